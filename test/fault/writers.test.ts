/** Applications append again and again while columns of their table are rewritten. */
import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { bundled } from "../support/bundled.ts";
import { aProject, startNode, type Project, type Running } from "../support/project.ts";
import { rounds } from "../support/rounds.ts";
import { lancedb } from "../support/tables.ts";

const appender = await bundled(fileURLToPath(new URL("appender.ts", import.meta.url)));
const appenders = rounds(2, 4);
/** docs/internals/faults.md says what came of the fifty. */
const times = rounds(1, 50);
/** Milliseconds after each append: without, they keep both cores of a small machine busy, and the retype waiting. */
const pause = rounds(20, 0);

interface Said {
  readonly acknowledged: readonly number[];
  readonly refusals: Readonly<Record<string, number>>;
}

async function ready({ process }: Running): Promise<void> {
  await new Promise<void>((resolve) => process.stdout!.once("data", () => resolve()));
}

async function ended(running: Running): Promise<Said> {
  running.process.stdin!.write("end\n");
  const { stdout, stderr, code } = await running.finished;
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout.trim().split("\n").at(-1)!) as Said;
}

/** The rows of the table whose value is not what was acknowledged, and those that are missing. */
async function wrong(project: Project, acknowledged: readonly number[]): Promise<readonly string[]> {
  const found = await (await (await lancedb.connect(project.database)).openTable("people")).query().toArrow();
  const [ids, values] = ["id", "value"].map((name) => found.getChild(name)!);
  const seen = new Map<number, unknown>();
  for (let at = 0; at < found.numRows; at++) seen.set(Number(ids!.get(at)), values!.get(at));
  return acknowledged.flatMap((id) => {
    const value = seen.get(id);
    if (value === undefined) return [`${id} is missing`];
    return Number(value) === id % 1_000 && value !== null ? [] : [`${id} is ${String(value)}`];
  });
}

test.each([
  {
    column: "a nullable column without nulls",
    type: "m.int32()",
    holdsNull: false,
    step: 'm.retypeColumn("people", "value", m.int64())',
  },
  {
    column: "a nullable column with nulls",
    type: "m.int32()",
    holdsNull: true,
    step: 'm.retypeColumn("people", "value", m.int64())',
  },
  {
    column: "a column that is not null",
    type: "m.int32().notNull()",
    holdsNull: false,
    step: 'm.retypeColumn("people", "value", m.int64())',
  },
  {
    column: "a column that is recreated",
    type: "m.int32()",
    holdsNull: true,
    step: 'm.retypeColumn("people", "value", m.float64(), { using: "value" })',
  },
])(
  `${appenders} applications append while $column is retyped, ${times} rounds: nothing that was acknowledged is lost`,
  async ({ type, holdsNull, step }) => {
    let [acknowledged, refused] = [0, 0];
    const seconds: number[] = [];
    for (let round = 0; round < times; round++) {
      const project = aProject();
      project.migration("0001_people.ts", `m.createTable("people", { id: m.int32().notNull(), value: ${type} })`);
      expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
      const table = await (await lancedb.connect(project.database)).openTable("people");
      await table.add([{ id: -1, value: holdsNull ? null : 0 }]);
      project.migration("0002_retype.ts", step);
      const beside = Array.from({ length: appenders }, (_, index) =>
        startNode([appender, project.database, "people", String(index), String(pause)], project.folder),
      );
      onTestFinished(() => beside.forEach(({ process }) => process.kill("SIGKILL")));
      await Promise.all(beside.map(ready));
      const started = performance.now();
      const { code, stderr } = await project.migrate(["up"]);
      seconds.push((performance.now() - started) / 1_000);
      expect(code, stderr).toBe(0);
      const said = await Promise.all(beside.map(ended));
      const all = said.flatMap((one) => one.acknowledged);
      expect(await wrong(project, all)).toEqual([]);
      acknowledged += all.length;
      refused += said.flatMap(({ refusals }) => Object.values(refusals)).reduce((sum, one) => sum + one, 0);
      // A thousand manifests of a thousand fragments are gigabytes.
      rmSync(project.folder, { recursive: true });
    }
    const [median, longest] = [seconds.toSorted((one, other) => one - other)[times >> 1]!, Math.max(...seconds)];
    console.log(
      `${acknowledged} appends were acknowledged, ${refused} refused, none lost; ` +
        `up took ${median.toFixed(1)} s in the median, ${longest.toFixed(1)} s at most`,
    );
    // Otherwise nobody wrote while the column was rewritten.
    expect(acknowledged).toBeGreaterThan(times * appenders);
  },
);

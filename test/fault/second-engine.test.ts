/** Another process works on the tables that a run migrates, and merges the files of its ledger. */
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { aProject, startNode, type Project } from "../support/project.ts";
import { addNumbers, columnsOf, lancedb, rowsOf } from "../support/tables.ts";

const application = fileURLToPath(new URL("second-engine.ts", import.meta.url));
const rows = 200_000;

interface Said {
  readonly appended?: number;
  readonly deleted?: number;
  readonly optimized?: string;
  readonly indexed?: string;
  /** How many old versions. */
  readonly removed?: number;
  readonly refused?: string;
}

/** The name ends as it began; only not-null columns, since the engine loses values of others (docs/internals/engine.md). */
function writeRound(project: Project, round: number): void {
  const steps = `
    m.retypeColumn("people", "value", m.int64()),
    m.renameColumn("people", "value", "amount"),
    m.retypeColumn("people", "amount", m.int32()),
    m.renameColumn("people", "amount", "value"),`;
  for (const nth of [1, 2, 3]) project.migration(`${String(round * 3 + nth).padStart(4, "0")}_round.ts`, steps);
}

test("an application that appends, deletes, compacts and indexes beside a run loses nothing, and the run ends well", async () => {
  const project = aProject("own");
  project.migration(
    "0001_people.ts",
    `m.createTable("people", { id: m.int32().notNull(), value: m.int32().notNull(), label: m.int32().notNull() })`,
  );
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  const columns = { id: (row: number) => row, value: (row: number) => row * 2, label: (row: number) => row % 100 };
  await addNumbers(project.database, "people", rows, columns);
  const beside = startNode([application, project.database, "people"], project.folder);
  onTestFinished(() => void beside.process.kill("SIGKILL"));
  let heard = "";
  beside.process.stdout!.on("data", (text: string) => (heard += text));
  const enough = () => [/"deleted"/, /"indexed"/, /("removed".*){3}/s].every((work) => work.test(heard));
  const codes: (number | null)[] = [];
  let rounds = 0;
  // As many migrations as it takes for every kind of work to come beside one.
  while (!enough() || codes.at(-1) !== 0) {
    if (codes.at(-1) !== 1) writeRound(project, ++rounds);
    const { code, stderr } = await project.migrate(["up"]);
    codes.push(code);
    expect(codes.at(-2) === 1 ? [0] : [0, 1], stderr).toContain(code);
  }
  beside.process.stdin!.write("end\n");
  const { stdout, stderr, code } = await beside.finished;
  expect(code, stderr).toBe(0);

  const said = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Said);
  const count = (of: keyof Said) => said.filter((line) => line[of] !== undefined).length;
  console.log(
    `${codes.length} runs of 12 steps each ended with ${[...new Set(codes)].join(" and ")}; acknowledged: ${count("appended")} appends, ${count("deleted")} deletes, ` +
      `${count("optimized")} optimizes, ${count("indexed")} indexes, ` +
      `${count("removed")} times that old versions were removed; refused to the application: ${count("refused")}`,
  );
  expect(new Set(said.map(({ optimized }) => optimized))).toContain("_migrations");

  const deleted = new Set(said.map((line) => line.deleted));
  const expected = said.flatMap(({ appended }) => (appended === undefined || deleted.has(appended) ? [] : [appended]));
  const found = await (await (await lancedb.connect(project.database)).openTable("people")).query().toArrow();
  const [ids, values, labels] = ["id", "value", "label"].map((name) => found.getChild(name)!);
  const seen = new Map<number, readonly number[]>();
  for (let at = 0; at < found.numRows; at++)
    seen.set(Number(ids!.get(at)), [Number(values!.get(at)), Number(labels!.get(at))]);
  expect(found.numRows).toBe(seen.size);
  const wanted = [...Array.from({ length: rows }, (_, id) => id), ...expected];
  expect(wanted.filter((id) => seen.get(id)?.[0] !== id * 2 || seen.get(id)?.[1] !== id % 100)).toEqual([]);
  expect(seen.size).toBe(wanted.length);
  expect(await columnsOf(project.database, "people")).toEqual([
    "id: int32 not null",
    "value: int32 not null",
    "label: int32 not null",
  ]);
  const applied = (await rowsOf(project.database, "_migrations")).filter(({ event }) => event === "applied");
  expect(applied).toHaveLength(rounds * 3 + 1);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0, stdout: "nothing to do\n" });
});

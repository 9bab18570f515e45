/** Random steps of all kinds: TypeScript takes all that the fold takes, and knows the tables after them as the fold does. */
import { expect, test } from "vitest";
import { isMigrateError } from "../../src/errors/migrate-error.ts";
import { layOut } from "../../src/features/shared/print-source.ts";
import { historyTypes } from "../../src/features/types/history-types.ts";
import { tablesAfter } from "../../src/actions/apply-action.ts";
import { formatPath } from "../../src/schema/path.ts";
import { change, columnPaths, type Database, type Table } from "../../src/schema/table.ts";
import { compileStep, stepSource, type Step } from "../../src/steps/registry.ts";
import { beginning, drafts, stepOf } from "../sequences/draw.ts";
import * as fc from "../support/fast-check.ts";
import { aProject } from "../support/project.ts";
import { revisionsOf } from "../support/revisions.ts";
import { rounds } from "../support/rounds.ts";
import { strictConfig, typeProblems } from "../support/type-check.ts";

const sequences = rounds(60, 1_000);
/** Of the 16 steps that are checked. */
const longest = 8;

function takes(database: Map<string, Table>, step: Step): boolean {
  try {
    const after = new Map(database);
    for (const action of compileStep(step)) change(after, tablesAfter(after, action));
    for (const name of database.keys()) if (!after.has(name)) database.delete(name);
    change(database, after);
    return true;
  } catch (error) {
    if (!isMigrateError(error)) throw error;
    return false;
  }
}

const textOf = (step: Step) => layOut(stepSource(step), { indent: 2, used: 2, tail: 1, prefix: "m." });

/** Each column of each table, so that one that TypeScript knows otherwise is found. */
function probes(database: Database): readonly Step[] {
  return [...database].flatMap(([table, { columns }]) =>
    columnPaths(columns).map((path): Step => ({
      kind: "setMetadata",
      table,
      path: formatPath(path),
      metadata: { probed: "yes" },
    })),
  );
}

test(`TypeScript follows ${sequences} random sequences of steps as the fold does`, () => {
  const project = aProject();
  project.write("tsconfig.json", strictConfig);
  const moments: Database[] = [];
  const counts = { taken: 0, refused: 0 };
  const ends = new Map<string, number>();
  const drawn = fc.sample(fc.tuple(fc.array(beginning, { minLength: 1, maxLength: 3 }), drafts), {
    numRuns: sequences,
    seed: 5,
  });
  for (const [at, [first, rest]] of drawn.entries()) {
    const database = new Map<string, Table>();
    for (const draft of first) takes(database, stepOf(draft, database));
    moments.push(new Map(database));
    const steps: Step[] = [];
    for (const draft of rest.slice(0, longest)) {
      const step = stepOf(draft, database);
      const isTaken = takes(database, step);
      counts[isTaken ? "taken" : "refused"]++;
      if (isTaken) steps.push(step);
    }
    const all = [...steps, ...probes(database).slice(0, 15 - steps.length)];
    const lines = all.map((step) => `  ${textOf(step)},\n`).join("");
    const version = String(at + 1).padStart(4, "0");
    // TypeScript still knows which tables there are: it refuses one that is not.
    const text = `import * as m from "lance-migrate";\n\nexport const up = m.after(\n  "${version}",\n${lines}  m.dropTable("nobody"),\n);\n`;
    ends.set(`sequence${version}.ts`, text.split("\n").length - 2);
    project.write(`sequence${version}.ts`, text);
  }
  expect(counts.taken).toBeGreaterThan(1.8 * sequences);
  project.write("history.d.ts", historyTypes(revisionsOf(moments)));
  const found = typeProblems(project.folder);
  expect(found.filter(({ file, line }) => ends.get(file) !== line)).toEqual([]);
  expect(found.length).toBe(sequences);
});

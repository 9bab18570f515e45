/** Queries of the application that are evaluated before a column is switched to another embedding model. */
import { mkdirSync, rmSync } from "node:fs";
import { expect, test } from "vitest";
import { aProject, type Project, onStderr, onStdout } from "../support/project.ts";
import { addRows, rowsOf } from "../support/tables.ts";
import { openTable } from "./support/scene-project.ts";

const numbers = Array.from({ length: 300 }, (_, id) => id);

/** Vectors on a line: the nearest rows of "text 7" are those with the nearest numbers. */
const old = `export default (rows: { text: string }[]) => rows.map(({ text }) => [Number(text.split(" ")[1]), 0]);\n`;
const same = old.replace(", 0]", ", 0, 0]");
/** Only even numbers are on the line. */
const worse = old.replace(", 0]", `, Number(text.split(" ")[1]) % 2 === 1 ? 1000 : 0, 0]`);

interface Scene {
  readonly code?: string;
  readonly queries: string;
  readonly evaluate?: string;
  readonly more?: string;
}

async function aScene({ code = same, queries, evaluate = `"./code/queries.ts"`, more = "" }: Scene): Promise<Project> {
  const project = aProject();
  project.write("code/old.ts", old);
  project.write("code/new.ts", code);
  project.write("code/queries.ts", queries);
  project.migration(
    "0001_docs.ts",
    `m.createTable("docs", { id: m.int64().notNull(), text: m.utf8(), v: m.vector(2) }),`,
  );
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  await addRows(
    project.database,
    "docs",
    numbers.map((id) => ({ id, text: `text ${id}`, v: [id, 0] })),
  );
  reembed(project, evaluate, more);
  return project;
}

function reembed(project: Project, evaluate: string, more = ""): void {
  const options = `type: m.vector(3), from: ["text"], key: "id", with: "./code/new.ts", version: "2", evaluate: ${evaluate}, ${more}`;
  project.migration("0002_model.ts", `m.reembedColumn("docs", "v", { ${options} }),`);
}

/** Queries between the rows, and what the old model finds. */
const expecting = `export default [10, 20, 100].map((id) => ({
  query: "text " + (id + 0.1), expected: [id, id + 1, id - 1, id + 2], old: [id + 0.1, 0],
}));\n`;

async function namesIn(project: Project): Promise<readonly string[]> {
  return (await (await openTable(project, "docs")).schema()).fields.map(({ name }) => name);
}

function evaluatedIn(stdout: string): Record<string, unknown> {
  const events = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  return events.find(({ event }) => event === "evaluated")!;
}

test("prepare reports the recall of both models, and up switches if it is enough", async () => {
  const evaluate = `{ file: "./code/queries.ts", k: 4, least: 0.8 }`;
  const project = await aScene({ queries: expecting, evaluate });
  const { code, stdout } = await project.migrate(["prepare"]);
  expect(code).toBe(0);
  expect(stdout).toContain(
    "; recall@4 1 for 3 queries, 1 with the old values; 1 of the 4 nearest rows of 3 queries are the same as with the old values\n",
  );
  expect(evaluatedIn((await project.migrate(["prepare", "--json"])).stdout)).toMatchObject({
    table: "docs",
    path: "v",
    least: 0.8,
    isEnough: true,
    recall: { queries: 3, old: 1, new: 1 },
    overlap: { queries: 3, shared: 1 },
    samples: expect.arrayContaining([
      {
        query: "text 10.1",
        expected: ["10", "11", "9", "12"],
        old: ["10", "11", "9", "12"],
        new: ["10", "11", "9", "12"],
      },
    ]),
  });
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  expect(await namesIn(project)).toContain("v_old");
});

test("a model that finds too little is reported by prepare, and up does not switch to it", async () => {
  const evaluate = `{ file: "./code/queries.ts", k: 4, least: 0.8 }`;
  const project = await aScene({ code: worse, queries: expecting, evaluate });
  const prepared = await project.migrate(["prepare"]);
  expect(prepared).toMatchObject({ code: 0 });
  expect(prepared.stdout).toContain(
    "; recall@4 0.5 for 3 queries, 1 with the old values; 0.5 of the 4 nearest rows of 3 queries are the same as with the old values; migrate up will not switch the column, because `least` is 0.8\n",
  );
  expect(prepared.stderr).toContain(`"text 10.1": expected 10, 11, 9, 12; old 10, 11, 9, 12; new 10, 12, 8, 14`);
  for (const _ of [1, 2]) {
    const refused = await project.migrate(["up"]);
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.stderr).toContain(
      "the new values of docs.v are not good enough for the queries of ./code/queries.ts: recall@4 0.5 for 3 queries, 1 with the old values; 0.5 of the 4 nearest rows of 3 queries are the same as with the old values, and `least` is 0.8; use another model, correct the queries, or lower `least`",
    );
    expect(refused.stderr).toContain("0 of 3 actions of this migration done");
    expect(await namesIn(project)).not.toContain("v_old");
  }
  const rows = (await rowsOf(project.database, "docs")) as unknown as readonly { id: bigint; v: Iterable<number> }[];
  expect(rows.map(({ id, v }) => [Number(id), ...v])).toEqual(expect.arrayContaining(numbers.map((id) => [id, id, 0])));
  // The step can be changed, and no row is computed again.
  project.write("code/new.ts", `${worse.replace("rows.map(", "rows.length > 3 ? [] : rows.map(")}`);
  reembed(project, evaluate.replace("0.8", "0.5"));
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  expect(await namesIn(project)).toContain("v_old");
  expect(await project.migrate(["down"])).toMatchObject({ code: 0 });
});

test("a new database has nothing to evaluate: up builds it, whatever the queries expect", async () => {
  const queries = `export default [{ query: "text 10.1" }];\n`;
  const down = `down: { with: "./code/old.ts", version: "1" }`;
  const evaluate = `{ file: "./code/queries.ts", k: 4, least: 0.8 }`;
  const project = await aScene({ code: worse, queries, evaluate, more: down });
  rmSync(project.database, { recursive: true });
  mkdirSync(project.database);
  expect(await project.migrate(["up"])).toMatchObject(onStdout(0, "2 migrations"));
  expect(await namesIn(project)).toContain("v_old");
  // With rows, the same model is refused.
  expect(await project.migrate(["down"])).toMatchObject({ code: 0 });
  const rows = numbers.map((id) => ({ id, text: `text ${id}`, v: [id, 0] }));
  await addRows(project.database, "docs", rows);
  expect(await project.migrate(["up"])).toMatchObject(onStderr(1, "`least` is 0.8"));
});

test("the code of the step and that of `down` compute the vectors of queries that state none", async () => {
  const queries = `export default async () => [{ query: "text 10.1" }, { query: { text: "text 50.1" }, new: [50, 0, 0] }];\n`;
  const down = `down: { with: "./code/old.ts", version: "1" }`;
  const project = await aScene({ queries, code: worse, evaluate: `{ file: "./code/queries.ts", k: 2 }`, more: down });
  const { stdout } = await project.migrate(["up", "--json"]);
  expect(evaluatedIn(stdout)).toMatchObject({
    isEnough: true,
    queries: 2,
    overlap: { queries: 2, shared: 0.5 },
    samples: expect.arrayContaining([
      { query: "text 10.1", old: ["10", "11"], new: ["10", "12"] },
      { query: '{"text":"text 50.1"}', old: ["50", "51"], new: ["50", expect.any(String)] },
    ]),
  });
  expect(evaluatedIn(stdout)).not.toHaveProperty("recall");
  // A rollback evaluates nothing.
  expect(evaluatedIn((await project.migrate(["down", "--json"])).stdout)).toBeUndefined();
});

test("the index of the new column is used, with its distance", async () => {
  const queries = `export default [{ query: "text 10", new: [1, 0, 0], expected: [${numbers.slice(1).join()}] }];\n`;
  const index = `index: m.ivfFlat({ distanceType: "cosine", numPartitions: 1 })`;
  const project = await aScene({
    queries,
    code: worse,
    evaluate: `{ file: "./code/queries.ts", k: 150 }`,
    more: index,
  });
  const { samples } = evaluatedIn((await project.migrate(["prepare", "--json"])).stdout) as {
    samples: { new: string[] }[];
  };
  // All even numbers have the direction of the query, whatever their length.
  expect(samples[0]!.new.filter((key) => Number(key) % 2 === 1).length).toBeLessThanOrEqual(1);
});

const unusable = [
  [
    `export default [{ query: "text 1" }];`,
    `query 1 states neither the rows that are \`expected\`, nor its \`old\` vector`,
  ],
  [
    `export default [{ query: "text 1", old: [1, 2, 3] }];`,
    "the vector `old` of query 1 has 3 numbers, and the column has",
  ],
  [`export default [{ query: "text 1", expected: [1], new: [1, 2] }];`, "the vector `new` of query 1 has 2 numbers"],
  [
    `export default [{ query: "nothing", expected: [1] }];`,
    'for the row whose id is "that of query 1": it returned a vector with NaN',
  ],
] as const;

test("queries that can't be evaluated end prepare, and what was computed is kept", async () => {
  const project = await aScene({ queries: "" });
  for (const [queries, problem] of unusable) {
    project.write("code/queries.ts", queries);
    const failed = await project.migrate(["prepare"]);
    expect(failed).toMatchObject(onStderr(1, problem));
    expect(failed.stderr).toContain("what was computed before is kept");
    expect((await project.migrate(["status"])).stdout).toContain("300 rows computed");
  }
});

test("a shard and a rehearsal evaluate nothing, and queries that are missing are found before anything is changed", async () => {
  const project = await aScene({ queries: "export default [];\n" });
  expect(await project.migrate(["prepare", "--shard", "1/2"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["rehearse"])).toMatchObject({ code: 0 });
  reembed(project, `"./code/gone.ts"`);
  const problem = "0002_model.ts, step 1 (reembedColumn) would fail: there is no file ./code/gone.ts";
  for (const command of ["plan", "prepare", "up"])
    expect(await project.migrate([command])).toMatchObject(onStderr(4, problem));
});

test("the calls for queries count for --max-calls, and what the run has computed is stated", async () => {
  const project = await aScene({ queries: `export default [{ query: "text 1.1", expected: [1] }];\n` });
  const stopped = await project.migrate(["prepare", "--max-calls", "5"]);
  expect(stopped).toMatchObject({ code: 130 });
  expect(stopped.stderr).toContain(
    "would exceed 5 calls (--max-calls); this run has computed 300 of 300 rows of docs.v and keeps them",
  );
  expect(await project.migrate(["prepare", "--max-calls", "1"])).toMatchObject({ code: 0 });
});

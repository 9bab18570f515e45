/** --max-calls and --max-cost: a run stops before the call that would exceed them, and the next one resumes. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { aProject, fillingOnce, type Project, onStderr } from "../support/project.ts";
import { addRows, rowsOf } from "../support/tables.ts";
import { openTable } from "./support/scene-project.ts";

const rows = 1_000;

/** Vectors of texts' lengths. A line of log.txt for each call, with the texts. */
const module = (more = "") => `import { appendFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
export default async function embed(rows: { text: string }[]) {
  appendFileSync("log.txt", rows.map(({ text }) => text).join() + "\\n");
  await setTimeout(1);
  return rows.map(({ text }) => [text.length, 1]);
}
${more}`;

const script = `import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, rows } = JSON.parse(line);
  appendFileSync("log.txt", rows.map(({ text }) => text).join() + "\\n");
  console.log(JSON.stringify({ id, values: rows.map(({ text }) => [text.length, 1]), cost: rows.length * 2 }));
});
`;

const fill = fillingOnce(async (project) => {
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  const texts = Array.from({ length: rows }, (_, id) => ({ id, text: `text ${id}` }));
  await addRows(project.database, "docs", texts);
});

async function aScene(step: "backfillColumn" | "reembedColumn", options: object = {}, more = ""): Promise<Project> {
  const project = aProject();
  project.write("code/embed.ts", module(more));
  project.write("code/embed.mjs", script);
  const docs = `m.createTable("docs", { id: m.int64().notNull(), text: m.utf8(), embedding: m.vector(2) }),`;
  project.migration("0001_docs.ts", docs);
  await fill(project);
  const how = { from: ["text"], key: "id", with: "./code/embed.ts", version: "2", batch: 50, ...options };
  const type = step === "reembedColumn" ? "type: m.vector(2), " : "";
  const given = JSON.stringify(how).slice(1);
  project.migration("0002_embed.ts", `m.${step}("docs", "embedding", { ${type}${given}),`);
  return project;
}

/** The texts of each call. */
function callsOf({ folder }: Project): readonly (readonly string[])[] {
  const file = join(folder, "log.txt");
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  return lines.map((line) => line.split(","));
}

/** Runs until all is computed. Returns how many calls each run made. No row is computed twice. */
async function untilDone(project: Project, args: readonly string[]): Promise<readonly number[]> {
  const made: number[] = [];
  for (let before = 0, code: number | null = 130; code === 130; before = callsOf(project).length) {
    const run = await project.migrate(args);
    code = run.code;
    made.push(callsOf(project).length - before);
    if (code !== 0) {
      expect(run).toMatchObject({ code: 130 });
      expect(run.stderr).toMatch(
        /^the next call of code would exceed .*; this run has computed \d+ of [\d,]+ rows of docs.embedding and keeps them: run the same command again to resume$/m,
      );
    }
  }
  const computed = callsOf(project).flat();
  expect(computed).toHaveLength(rows);
  expect(new Set(computed).size).toBe(rows);
  return made;
}

async function vectorsIn({ database }: Project): Promise<number> {
  const found = (await rowsOf(database, "docs")) as unknown as readonly { text: string; embedding: number[] | null }[];
  return found.filter(({ text, embedding }) => embedding?.[0] === text.length).length;
}

test("up makes no more calls than --max-calls, and resumes", async () => {
  const project = await aScene("backfillColumn");
  expect(await untilDone(project, ["up", "--max-calls", "9"])).toEqual([9, 9, 2]);
  expect(await vectorsIn(project)).toBe(rows);
});

test("prepare stops before the call that would exceed --max-cost, with calls under way, and resumes", async () => {
  const project = await aScene("reembedColumn", { pricePer1000Rows: 2, concurrency: 8 });
  // A call of 50 rows costs 0.1.
  const limited = ["prepare", "--max-cost", "0.75"];
  const stopped = await project.migrate(limited);
  expect(stopped).toMatchObject({ code: 130 });
  expect(stopped.stderr).toContain("a cost of 0.75 (--max-cost), of which 0.7 is spent; this run has computed 350 of");
  expect((await project.migrate(["status"])).stdout).toContain("350 of 1,000 rows");
  expect(callsOf(project)).toHaveLength(7);
  expect(await untilDone(project, limited)).toEqual([14, 6]);
  expect(await project.migrate(["up", "--max-calls", "1"])).toMatchObject({ code: 0 });
  expect(callsOf(project)).toHaveLength(20);
  expect(await vectorsIn(project)).toBe(rows);
});

test("what a module or a command reports counts, in place of the price", async () => {
  // A call of 50 rows costs 100.
  const command = { with: { command: [process.execPath, "code/embed.mjs"] } };
  for (const project of [
    await aScene(
      "backfillColumn",
      { pricePer1000Rows: 1 },
      "export const cost = (rows, values) => rows.length + values.length;",
    ),
    await aScene("backfillColumn", command),
  ])
    expect(await untilDone(project, ["up", "--max-cost", "850"])).toEqual([8, 8, 4]);
});

test("--max-cost is refused before the first call if what calls cost is unknown", async () => {
  const silent = await aScene("backfillColumn");
  const refused = await silent.migrate(["up", "--max-cost", "5"]);
  expect(refused).toMatchObject({ code: 1 });
  const problem = "the cost of a call is unknown, so --max-cost can't be applied; state pricePer1000Rows in the step";
  expect(refused.stderr).toContain(`./code/embed.ts: ${problem}`);
  expect(callsOf(silent)).toEqual([]);
});

test("a run that has reached a limit is recorded as interrupted, and --json states the limit", async () => {
  const project = await aScene("backfillColumn");
  const { code, stdout } = await project.migrate(["up", "--max-calls", "3", "--json"]);
  expect(code).toBe(130);
  const last = JSON.parse(stdout.trimEnd().split("\n").at(-1)!) as object;
  expect(last).toMatchObject({ event: "error", code: "ERR_LIMIT_REACHED" });
  expect((await project.migrate(["status"])).stdout).toContain("to continue, migrate up");
  expect(await project.migrate(["prepare", "--on", "ray", "--shards", "2", "--max-calls", "3"])).toMatchObject(
    onStderr(2, "--on and --max-calls can't be used together"),
  );
});

test("several databases share the limits of a command", async () => {
  const project = aProject();
  project.write("code/embed.ts", module());
  project.write(
    "migrate.config.ts",
    `export default { targets: { all: { kind: "lance", uri: "data/{database}", databases: ["a", "b", "c"] } } };\n`,
  );
  project.migration("0001_docs.ts", `m.createTable("docs", { id: m.int64().notNull(), text: m.utf8() }),`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  for (const database of ["a", "b", "c"])
    await addRows(
      join(project.folder, "data", database),
      "docs",
      Array.from({ length: 100 }, (_, id) => ({ id, text: `${database} ${id}` })),
    );
  const how = `{ from: ["text"], key: "id", with: "./code/embed.ts", version: "1", batch: 50 }`;
  project.migration("0002_embed.ts", `m.addColumn("docs", "v", m.vector(2)), m.backfillColumn("docs", "v", ${how}),`);
  expect(await project.migrate(["up", "--max-calls", "3"])).toMatchObject({ code: 130 });
  expect(callsOf(project)).toHaveLength(3);
  expect(await project.migrate(["up", "--max-calls", "3"])).toMatchObject({ code: 0 });
  const computed = callsOf(project).flat();
  expect(computed).toHaveLength(300);
  expect(new Set(computed).size).toBe(300);
});

test("rows that applications have left without a right vector count, and the next up computes the rest", async () => {
  const project = await aScene("reembedColumn");
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  const docs = await openTable(project, "docs");
  await docs.update({ where: "id < 100", valuesSql: { text: "concat('later ', id)" } });
  const before = callsOf(project).length;
  const stopped = await project.migrate(["up", "--max-calls", "1"]);
  expect(stopped).toMatchObject({
    code: 130,
    stdout: "no migration was pending\n",
    stderr:
      "the next call of code would exceed 1 call (--max-calls); this run has computed 50 of 100 rows of docs.embedding and keeps them: run the same command again to resume\n",
  });
  expect(callsOf(project)).toHaveLength(before + 1);
  // What is computed is merged by the next run.
  expect((await project.migrate(["status"])).stdout).toContain("100 rows of docs lack a right embedding");
  expect(await project.migrate(["up", "--max-calls", "1"])).toMatchObject({ code: 0 });
  expect(callsOf(project)).toHaveLength(before + 2);
  expect(await vectorsIn(project)).toBe(rows);
  expect(await project.migrate(["up", "--max-calls", "1"])).toMatchObject({ code: 0, stdout: "nothing to do\n" });
});

test("a limit that is reached after the migrations leaves them applied", async () => {
  const project = await aScene("reembedColumn");
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  const docs = await openTable(project, "docs");
  await docs.update({ where: "id < 100", valuesSql: { text: "concat('later ', id)" } });
  project.migration("0003_words.ts", `m.addColumn("docs", "words", m.int32()),`);
  const stopped = await project.migrate(["up", "--max-calls", "1", "--json"]);
  expect(stopped.code).toBe(130);
  const events = stopped.stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as object);
  expect(events).toContainEqual(expect.objectContaining({ event: "applied", version: 3 }));
  expect(events.at(-2)).toMatchObject({ event: "finished", applied: 1 });
  expect(events.at(-1)).toMatchObject({ event: "error", code: "ERR_LIMIT_REACHED" });
  expect(await project.migrate(["up", "--max-calls", "1"])).toMatchObject({ code: 0 });
  expect(await vectorsIn(project)).toBe(rows);
});

test.for(["prepare", "later rows"] as const)(
  "a run with a limit gets further than to the rows for which the code has failed before (%s)",
  async (kind) => {
    const project = await aScene("reembedColumn", { failedRows: "leave", concurrency: 1 });
    if (kind === "later rows") {
      expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
      const docs = await openTable(project, "docs");
      await docs.update({ valuesSql: { text: "concat('text ', id, '!')" } });
    }
    const third = kind === "later rows" ? "text 3!" : "text 3";
    const earlier = callsOf(project).length;
    const calls = () => callsOf(project).slice(earlier);
    const fails = `if (rows.some(({ text }) => text === "${third}")) throw new Error("no three");`;
    project.write("code/embed.ts", module().replace("await setTimeout(1);", fails));
    const command = kind === "prepare" ? "prepare" : "up";
    const limited = async (most: number) => await project.migrate([command, "--max-calls", String(most)]);
    // The calls that find out which row it is, and some more.
    expect(await limited(60)).toMatchObject({ code: 130 });
    const made = calls().length;
    const seen = new Set(calls().flat());
    expect(seen).toContain(third);
    // Each of these runs computes rows that no run has seen.
    for (let run = 0; run < 3; run++) {
      expect(await limited(1)).toMatchObject({ code: 130 });
      const texts = calls().at(-1)!;
      expect(texts.filter((text) => seen.has(text))).toEqual([]);
      for (const text of texts) seen.add(text);
    }
    expect(calls()).toHaveLength(made + 3);
    // In the end it is tried again, once the code is right.
    project.write("code/embed.ts", module());
    expect(await project.migrate([command])).toMatchObject({ code: 0 });
    expect(calls().at(-1)).toEqual([third]);
    expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
    expect(await vectorsIn(project)).toBe(rows);
  },
);

test("what others write between two runs that a limit ends blocks the rollback", async () => {
  const project = await aScene("backfillColumn");
  expect(await project.migrate(["up", "--max-calls", "7"])).toMatchObject({ code: 130 });
  await addRows(project.database, "docs", [{ id: rows, text: "late" }]);
  expect(await project.migrate(["up", "--max-calls", "7"])).toMatchObject({ code: 130 });
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["plan", "--down"])).toMatchObject(
    onStderr(4, "it is unknown what was written to docs since"),
  );
});

test("versions that a run made before its limit are its own, so a rollback needs no consent", async () => {
  const project = await aScene("backfillColumn");
  for (let run = 0; run < 2; run++)
    expect(await project.migrate(["up", "--max-calls", "7"])).toMatchObject({ code: 130 });
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["plan", "--down"])).toMatchObject({ code: 0, stderr: "" });
  // What others write is still found.
  await addRows(project.database, "docs", [{ id: rows, text: "late" }]);
  expect(await project.migrate(["plan", "--down"])).toMatchObject(onStderr(4, "1 row of docs was written since"));
});

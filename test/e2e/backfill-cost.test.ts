/** What code that computes a column will cost: as planned, and as a sample shows. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { planDocumentShape } from "../../src/plan/document/plan-document.ts";
import type { Rehearsal } from "../../src/index.ts";
import { filesOf } from "../support/files.ts";
import { aProject, fillingOnce, type Project } from "../support/project.ts";
import { addRows } from "../support/tables.ts";
import type { StepSample } from "../../src/run/computed.ts";

/** A table of 1,000 texts, and a migration that computes a vector for each. */
async function aScene(options: object = {}, code = vectorsOf(), before = ""): Promise<Project> {
  const project = aProject();
  await fillScene(project, options, code, before);
  return project;
}

const fill = fillingOnce(async (project) => {
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  const rows = Array.from({ length: 1_000 }, (_, id) => ({ id, text: `text ${id}` }));
  await addRows(project.database, "docs", rows);
});

async function fillScene(project: Project, options: object, code = vectorsOf(), before = ""): Promise<void> {
  project.migration("0001_docs.ts", `m.createTable("docs", { id: m.int64().notNull(), text: m.utf8() }),`);
  await fill(project);
  project.write("code/vectors.ts", code);
  const all = { from: ["text"], key: "id", with: "./code/vectors.ts", version: "1", ...options };
  const embed = `m.backfillColumn("docs", "embedding", ${JSON.stringify(all)}),`;
  project.migration("0002_embed.ts", `${before} m.addColumn("docs", "embedding", m.vector(4)), ${embed}`);
}

/** `first`: statements that run first in each call. */
function vectorsOf(first = ""): string {
  return `import { appendFileSync } from "node:fs";
export default async function vectors(rows: { text: string }[]) {
  appendFileSync("log.txt", rows.map(({ text }) => text + "\\n").join(""));
  ${first}
  return rows.map(({ text }) => [text.length, 0, 0, 0]);
}
`;
}

/** What the plan says about the backfill, as text and in the document. */
async function planned(project: Project) {
  const args = ["plan", "--accept", "lossy"];
  const shown = await project.migrate(args);
  expect(shown).toMatchObject({ code: 0 });
  const { pending, totals } = planDocumentShape.parse(JSON.parse((await project.migrate([...args, "--json"])).stdout));
  const last = pending!.flatMap(({ actions }) => actions).at(-1)!;
  const line = shown.stdout.split("\n").find((one) => one.includes("code computes"));
  return { text: shown.stdout, line, cost: last.cost!, totals };
}

test("plan shows the rows that code computes, its calls, their price and how long the limit makes it take", async () => {
  const stated = { batch: 10, pricePer1000Rows: 0.25, callsPerMinute: 2 };
  const { text, line, cost, totals } = await planned(await aScene(stated));
  expect(text).toContain("where it is null (rewrites about 16.0 kB in 1,000 rows)");
  expect(line).toBe(
    "    code computes 1,000 rows in 100 calls, about 0.25 at 0.25 per 1,000 rows, at least 49.5 min at 2 calls per minute",
  );
  const computed = { rows: 1_000, calls: 100, price: 0.25, seconds: 2_970 };
  expect(cost).toMatchObject({ rows: 1_000, bytes: 16_000, computed });
  expect(totals).toMatchObject({ computed });
  expect(text).toContain("\ncode computes 1,000 rows in 100 calls, about 0.25, at least 49.5 min\n");
});

test("what is unknown is shown as unknown", async () => {
  const stated = { pricePer1000Rows: 5, callsPerMinute: 1 };
  const project = await aScene(stated, vectorsOf(), `m.execute("docs", { delete: "id > 500" }),`);
  const { text, line, cost } = await planned(project);
  expect(line).toBe(
    "    code computes an unknown number of rows, cost unknown at 5 per 1,000 rows, time unknown at 1 call per minute",
  );
  expect(text).toContain("(rewrites an unknown number of rows)");
  expect(cost.computed).toEqual({ rows: null, calls: null, price: null, seconds: null });
  const texts = { from: ["text"], key: "id", with: "./code/vectors.ts", version: "1" };
  const fill = `m.backfillColumn("docs", "title", ${JSON.stringify(texts)}),`;
  project.migration("0002_embed.ts", `m.addColumn("docs", "title", m.utf8()), ${fill}`);
  expect((await planned(project)).text).toContain("(rewrites 1,000 rows of unknown size)");
});

/** A rehearsal with a sample, which changes no table. */
async function sampled(project: Project, size: number, code = 0) {
  const before = filesOf(project.database);
  const args = ["rehearse", "--accept", "lossy", "--sample", String(size)];
  const shown = await project.migrate(args);
  expect(shown).toMatchObject({ code });
  const texts = textsIn(project);
  const { stdout } = await project.migrate([...args, "--json"]);
  const { migrations, problem } = JSON.parse(stdout) as Omit<Rehearsal, "problem"> & { problem?: { message: string } };
  expect(filesOf(project.database)).toEqual(before);
  const sample = migrations.flatMap(({ steps }) => steps).at(-1)!.sample!;
  return { text: shown.stdout, texts, sample, problem };
}

/** The texts for which the code was called. */
function textsIn({ folder }: Project): readonly string[] {
  return readFileSync(join(folder, "log.txt"), "utf8").trimEnd().split("\n");
}

function measured(sample: StepSample): Exclude<StepSample, { untried: string }> {
  expect(sample).not.toHaveProperty("untried");
  return sample as Exclude<StepSample, { untried: string }>;
}

test("a rehearsal with a sample runs the code on rows from all of the table, and estimates the whole time", async () => {
  const project = await aScene({ batch: 10 });
  const { text, texts, sample } = await sampled(project, 100);
  expect(new Set(texts).size).toBe(100);
  const numbers = texts.map((one) => Number(/^text (\d+)$/.exec(one)![1])).toSorted((one, other) => one - other);
  expect(numbers.at(5)).toBeLessThan(250);
  expect(numbers.at(-6)).toBeGreaterThan(750);
  expect(text).toMatch(/^ {4}code: 100 rows computed in 10 calls, \d+ ms per call, [\d,.]+ rows per second$/m);
  expect(text).toMatch(/^ {4}all 1,000 rows: about \d.*s$/m);
  expect(text).not.toContain("a larger sample");
  const { rowsPerSecond, duration, ...found } = measured(sample);
  expect(found).toMatchObject({ computed: 100, failed: 0, problems: [], calls: 10, isSteady: true, total: 1_000 });
  expect(duration).toBeCloseTo(1_000_000 / rowsPerSecond!);
});

test("a limit of calls determines the whole time if the code is faster", async () => {
  const project = await aScene({ batch: 500, callsPerMinute: 600 });
  const { text, sample } = await sampled(project, 10);
  expect(measured(sample)).toMatchObject({ calls: 1, isSteady: false });
  expect(measured(sample).duration).toBeGreaterThanOrEqual(1_000);
  expect(text).toContain("    a larger sample gives a better estimate: its first calls are then left out\n");
});

test("a sample larger than the table is the table, and columns may have other names now", async () => {
  const rename = `m.renameColumn("docs", "text", "body"), m.renameColumn("docs", "id", "number"),`;
  const code = vectorsOf().replaceAll("text", "body");
  const project = await aScene({ from: ["body"], key: "number" }, code, rename);
  const { texts, sample } = await sampled(project, 5_000);
  expect(new Set(texts).size).toBe(1_000);
  expect(measured(sample)).toMatchObject({ computed: 1_000, failed: 0 });
});

test.each(["stop", "leave"] as const)(
  "rows that the code fails for are reported, with failedRows: %s",
  async (failedRows) => {
    const fails = `if (rows.some(({ text }) => text.endsWith("77"))) throw new Error("it ends with 77");`;
    const project = await aScene({ failedRows, batch: 100 }, vectorsOf(fails));
    const stops = failedRows === "stop";
    const { text, sample, problem } = await sampled(project, 1_000, stops ? 1 : 0);
    expect(measured(sample)).toMatchObject({ computed: 990, failed: 10 });
    expect(text).toMatch(/^ {4}10 rows failed; id \d*77: it ends with 77; id/m);
    if (!stops) expect(problem).toBeUndefined();
    else
      expect(problem?.message).toMatch(
        /0002_embed: \.\/code\/vectors\.ts fails for 10 of 1,000 rows; id \d*77: it ends with 77/,
      );
  },
);

test("values that don't fit the column are found", async () => {
  const project = await aScene({ failedRows: "leave" }, vectorsOf(`if (rows.length > 0) return rows.map(() => [1]);`));
  const { sample, problem } = await sampled(project, 200, 1);
  expect(measured(sample)).toMatchObject({ computed: 0 });
  expect(problem?.message).toContain("it returned a vector of 1 numbers for fixedSizeList<float32, 4>");
});

test("if an earlier step changes the rows, the code is not tried", async () => {
  const project = await aScene({}, vectorsOf(), `m.execute("docs", { delete: "id > 500" }),`);
  project.write("log.txt", "nothing");
  const { text, texts } = await sampled(project, 10);
  expect(text).toContain(
    "    code: not tried: an earlier step of the plan changes what it reads, so it has to run first\n",
  );
  expect(texts).toEqual(["nothing"]);
});

test("plan and a sample know the rows of reembedColumn, also when some are computed", async () => {
  const fails = `if (rows.some(({ text }) => text === "text 700") && !process.env.GO) throw new Error("700 fails");`;
  const project = await aScene({ version: "1" }, vectorsOf());
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  project.write("code/new.ts", vectorsOf(fails).replace("0, 0, 0]", "0]"));
  const how = `from: ["text"], key: "id", with: "./code/new.ts", version: "2", batch: 500, concurrency: 1, pricePer1000Rows: 4`;
  project.migration("0003_model.ts", `m.reembedColumn("docs", "embedding", { type: m.vector(2), ${how} }),`);
  const all = "    code computes 1,000 rows in 2 calls, about 4.00 at 4 per 1,000 rows";
  expect((await planned(project)).line).toBe(all);
  const before = filesOf(project.database);
  const { stdout } = await project.migrate(["rehearse", "--sample", "50"], { GO: "1" });
  expect(stdout).toMatch(/^ {4}code: 50 rows computed in 1 call, /m);
  expect(stdout).toMatch(/^ {4}all 1,000 rows: about /m);
  expect(filesOf(project.database)).toEqual(before);
  expect(await project.migrate(["up"])).toMatchObject({ code: 1 });
  // The 200 rows before the one that fails are known.
  expect((await planned(project)).line).toBe("    code computes 300 rows in 1 call, about 1.20 at 4 per 1,000 rows");
});

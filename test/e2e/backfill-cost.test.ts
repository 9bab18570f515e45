/** What code that computes a column will cost: as planned. */
import { expect, test } from "vitest";
import { planDocumentShape } from "../../src/plan/assess/plan-document.ts";
import { aProject, type Project } from "../support/project.ts";
import { addRows } from "../support/tables.ts";

/** A table of 1,000 texts, and a migration that computes a vector for each. */
async function aScene(options: object = {}, code = vectorsOf(), before = ""): Promise<Project> {
  const project = aProject();
  project.migration("0001_docs.ts", `m.createTable("docs", { id: m.int64().notNull(), text: m.utf8() }),`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  await addRows(
    project.database,
    "docs",
    Array.from({ length: 1_000 }, (_, id) => ({ id, text: `text ${id}` })),
  );
  project.write("code/vectors.ts", code);
  const all = { from: ["text"], key: "id", with: "./code/vectors.ts", version: "1", ...options };
  const fill = `m.backfillColumn("docs", "embedding", ${JSON.stringify(all)}),`;
  project.migration("0002_embed.ts", `${before} m.addColumn("docs", "embedding", m.vector(4)), ${fill}`);
  return project;
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
  const shown = await project.migrate(["plan"]);
  expect(shown).toMatchObject({ code: 0 });
  const { pending, totals } = planDocumentShape.parse(JSON.parse((await project.migrate(["plan", "--json"])).stdout));
  const last = pending!.flatMap(({ actions }) => actions).at(-1)!;
  const line = shown.stdout.split("\n").find((one) => one.includes("code computes"));
  return { text: shown.stdout, line, cost: last.cost!, totals };
}

test("plan shows the rows that code computes, its calls, their price and how long the limit makes it take", async () => {
  const stated = { batch: 10, pricePer1000Rows: 0.25, callsPerMinute: 2 };
  const { text, line, cost, totals } = await planned(await aScene(stated));
  expect(text).toContain("where it is null (rewrites about 16.0 kB in 1,000 rows, 3 versions)");
  expect(line).toBe(
    "    code computes 1,000 rows in 100 calls, about 0.25 at 0.25 per 1,000 rows, at least 49.5 min at 2 calls per minute",
  );
  const computed = { rows: 1_000, calls: 100, price: 0.25, seconds: 2_970 };
  expect(cost).toMatchObject({ rows: 1_000, bytes: 16_000, computed });
  expect(totals).toMatchObject({ computed });
  expect(text).toContain("\ncode computes 1,000 rows in 100 calls, about 0.25, at least 49.5 min\n");
});

test("without a price and a limit, plan shows rows and calls", async () => {
  const { line, cost } = await planned(await aScene({ where: "id < 200 or id = 300" }));
  expect(line).toBe("    code computes 201 rows in 4 calls");
  expect(cost.computed).toEqual({ rows: 201, calls: 4 });
});

test("what is unknown is shown as unknown", async () => {
  const stated = { pricePer1000Rows: 5, callsPerMinute: 1 };
  const project = await aScene(stated, vectorsOf(), `m.execute("docs", { delete: "id > 500" }),`);
  const { text, line, cost } = await planned(project);
  expect(line).toBe(
    "    code computes an unknown number of rows, cost unknown at 5 per 1,000 rows, time unknown at 1 call per minute",
  );
  expect(text).toContain("(rewrites an unknown number of rows, 3 versions)");
  expect(cost.computed).toEqual({ rows: null, calls: null, price: null, seconds: null });
  const texts = { from: ["text"], key: "id", with: "./code/vectors.ts", version: "1" };
  const fill = `m.backfillColumn("docs", "title", ${JSON.stringify(texts)}),`;
  project.migration("0002_embed.ts", `m.addColumn("docs", "title", m.utf8()), ${fill}`);
  expect((await planned(project)).text).toContain("(rewrites 1,000 rows of unknown size, 3 versions)");
});

test("after an interruption, plan shows what is left", async () => {
  const fails = `if (rows.some(({ text }) => text === "text 700") && !process.env.GO) throw new Error("700 fails");`;
  const project = await aScene({ batch: 500, concurrency: 1, pricePer1000Rows: 1 }, vectorsOf(fails));
  expect(await project.migrate(["up"])).toMatchObject({ code: 1 });
  const { line, cost } = await planned(project);
  // The first page, of 500 rows, is in the column.
  expect(line).toBe("    code computes 500 rows in 1 call, about 0.50 at 1 per 1,000 rows");
  expect(cost).toMatchObject({ rows: 500, bytes: 8_000 });
  expect(await project.migrate(["up"], { GO: "1" })).toMatchObject({ code: 0 });
});

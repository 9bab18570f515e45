import {
  addColumn,
  alterColumns,
  createTable,
  dropColumn,
  dropTable,
  float64,
  int32,
  int64,
  list,
  reembedColumn,
  renameColumn,
  renameTable,
  retypeColumn,
  setNullable,
  struct,
  utf8,
  vector,
  type Step,
} from "lance-migrate";
import { expect, test } from "vitest";
import { actionsOf } from "../../../../../src/plan/compile/compile.ts";
import { sequenceFor } from "../../../../../src/features/contracts/check/sequence.ts";
import { replayOn } from "../../../../../src/plan/history/replay.ts";

const created = createTable("documents", {
  id: int64().notNull(),
  title: utf8(),
  Size: int32().notNull(),
  source: struct({ url: utf8(), page: int32() }),
  parts: list(struct({ text: utf8() })),
  embedding: vector(2),
});
const database = replayOn(new Map(), [{ file: "0001_documents.ts", steps: [created] }], { describes: true });

function sequenceOf(step: Step, at = 0): readonly string[] {
  const action = actionsOf(step, { describes: true })[at]!;
  const isBreaking = (one: typeof action) => one.kind === "alterColumns" && one.alterations[0]!.path !== "source.page";
  const place = { file: "0002_next.ts", step: 1, kind: step.kind };
  return sequenceFor({ action, before: database, place }, ["search 1.4.0"], isBreaking);
}

const stop = "Stop search 1.4.0, and remove its contract.";
const stopLast = "Stop the release before it, and remove its contract.";

test("a rename becomes a new column, two releases that write both, and a drop", () => {
  expect(sequenceOf(renameColumn("documents", "title", "headline"))).toEqual([
    'In 0002_next.ts, replace this step with addColumn("documents", "headline", utf8()).',
    `Deploy a release that reads documents.title and writes both documents.title and documents.headline. ${stop}`,
    'A migration with execute("documents", { update: { headline: "`title`" }, where: "`headline` is null or `headline` <> `title` or `title` is null" }), and with accepts = ["lossy"].',
    `Deploy a release that reads documents.headline and writes both. ${stopLast}`,
    `Deploy a release that reads and writes only documents.headline. ${stopLast}`,
    'A migration with dropColumn("documents", "title"), and with accepts = ["lossy"].',
  ]);
});

test("a column that is not null becomes nullable before a release leaves it out, and the new one not null last", () => {
  expect(sequenceOf(retypeColumn("documents", "Size", int64()))).toEqual([
    'In 0002_next.ts, replace this step with addColumn("documents", "Size_2", int64()).',
    expect.stringContaining("reads documents.Size and writes both documents.Size and documents.Size_2"),
    'A migration with execute("documents", { update: { Size_2: "`Size`" } }), and with accepts = ["lossy"].',
    expect.stringContaining("reads documents.Size_2 and writes both"),
    'A migration with setNullable("documents", "Size", true).',
    expect.stringContaining("reads and writes only documents.Size_2"),
    'A migration with dropColumn("documents", "Size"), and with accepts = ["lossy"].',
    'If it should be not null: a migration with setNullable("documents", "Size_2", false). Where a release has the table open already, it can append again after checkoutLatest.',
  ]);
});

test("a field becomes a column, as a new field would make the engine write the struct again", () => {
  const [add, , fill] = sequenceOf(renameColumn("documents", "source.url", "link"));
  expect(add).toBe('In 0002_next.ts, replace this step with addColumn("documents", "source_link", utf8()).');
  expect(fill).toContain('{ update: { source_link: "`source`.`url`" }, where: ');
  expect(sequenceOf(addColumn("documents", "source.fetched", utf8()))).toEqual([
    'In 0002_next.ts, replace this step with addColumn("documents", "source_fetched", utf8()). The field would make the engine write the whole struct again.',
  ]);
  expect(sequenceOf(renameColumn("documents", "parts.item.text", "words"))[2]).toBe(
    "A migration that fills documents.parts_item_words.",
  );
});

test("structs and vectors are copied without a comparison, which the engine does not have", () => {
  const [add, , fill] = sequenceOf(renameColumn("documents", "source", "origin"));
  expect(add).toContain('addColumn("documents", "origin", struct({ url: utf8(), page: int32() }))');
  expect(fill).toBe(
    'A migration with execute("documents", { update: { origin: "`source`" } }), and with accepts = ["lossy"].',
  );
});

test("an expression fills the new column, and the first alteration that breaks a contract counts", () => {
  const convert = retypeColumn("documents", "title", float64(), { using: "try_cast(title as double)" });
  expect(sequenceOf(convert)[2]).toBe(
    'A migration with execute("documents", { update: { title_2: "try_cast(title as double)" } }), and with accepts = ["lossy"].',
  );
  const several = alterColumns("documents", [
    { path: "source.page", rename: "number" },
    { path: "title", rename: "label" },
  ]);
  expect(sequenceOf(several)[0]).toBe(
    'In 0002_next.ts, replace this step with addColumn("documents", "label", utf8()).',
  );
});

test.each<[Step, readonly string[]]>([
  [
    setNullable("documents", "id", true),
    [`Deploy a release that accepts nulls in documents.id. ${stop}`, "Run this migration."],
  ],
  [
    setNullable("documents", "title", false),
    [
      `Deploy a release that always writes documents.title, with "not null" in its contract. ${stop}`,
      "A migration with execute, which sets title in the rows where it is null.",
      "Run this migration. Where a release has the table open already, it can append again after checkoutLatest.",
    ],
  ],
  [
    addColumn("documents", "lang", utf8().notNull(), { as: "'en'" }),
    [
      'In 0002_next.ts, replace this step with addColumn("documents", "lang", utf8()).',
      `Deploy a release that always writes documents.lang. ${stop}`,
      `A migration with execute("documents", { update: { lang: "'en'" }, where: "\`lang\` is null" }) and setNullable("documents", "lang", false). Where a release has the table open already, it can append again after checkoutLatest.`,
    ],
  ],
  [
    dropColumn("documents", "Size"),
    [
      `Deploy a release that writes documents.Size and does not read it. ${stop}`,
      'A migration with setNullable("documents", "Size", true).',
      `Deploy a release that does not write documents.Size either. ${stopLast}`,
      "Run this migration.",
    ],
  ],
  [dropTable("documents"), [`Deploy a release that does not use documents. ${stop}`, "Run this migration."]],
])("%j", (step, texts) => {
  expect(sequenceOf(step)).toEqual(texts);
});

test("tables and models are replaced by releases that write both", () => {
  const moved = sequenceOf(renameTable("documents", "papers"));
  expect(moved).toHaveLength(6);
  expect(moved[0]).toBe(
    "In 0002_next.ts, replace this step with one that creates the table papers with the same columns. It is simpler to keep the name documents.",
  );
  const step = reembedColumn("documents", "embedding", {
    type: vector(3),
    from: ["title"],
    key: "id",
    with: "./embed.ts",
    version: "2",
  });
  const [names, add, both] = sequenceOf(step, 1);
  expect(names).toContain(`names the column that it searches, documents.embedding`);
  expect(add).toBe('In 0002_next.ts, replace this step with addColumn("documents", "embedding_2", vector(3)).');
  expect(both).toContain("writes both documents.embedding and, with the new model, documents.embedding_2");
});

import {
  addColumn,
  addComputedColumn,
  alterColumns,
  createIndex,
  createTable,
  dropColumn,
  dropIndex,
  dropTable,
  execute,
  fixedSizeList,
  fts,
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
import { foldLedger } from "../../../../../src/ledger/state/fold.ts";
import { withContracts as withContractsOf } from "../../../../../src/features/contracts/check/broken-contracts.ts";
import {
  parseContract,
  type Contract,
  type TableDocument,
} from "../../../../../src/features/contracts/check/contract.ts";
import { checkRefusals } from "../../../../../src/plan/assess/guards.ts";
import { makePlan, type Plan } from "../../../../../src/plan/make-plan.ts";
import { aMigration } from "../../../../simulate/history.ts";
import { abilitiesOf } from "../../../../simulate/target/memory-target.ts";

const created = createTable("documents", {
  id: int64().notNull(),
  title: utf8(),
  price: int32(),
  body: utf8(),
  source: struct({ url: utf8(), page: int32() }),
  tags: list(utf8()),
  embedding: vector(2),
});

const namespace = abilitiesOf("namespace");
const able = { ...namespace, actions: { ...namespace.actions, addField: true as const } };

const withContracts = (plan: Plan, contracts: readonly Contract[]) => withContractsOf(plan, contracts, "up");

function planOf(steps: readonly Step[], base: readonly Step[] = [created]): Plan {
  const [first, second] = [aMigration(1, base), aMigration(2, steps)];
  return makePlan({
    migrations: [first, second],
    pending: [second],
    state: foldLedger([
      { event: "applied", version: 1, name: "one", checksum: first.checksum, at: 0, duration: 0 } as never,
    ]),
    inDoubt: new Set(),
    target: { name: "prod", capabilities: able },
    ledger: "_l",
  });
}

const whole: TableDocument = {
  reads: {
    id: "int64 not null",
    title: "utf8",
    price: "int32",
    "source.url": "utf8",
    tags: "list<utf8>",
    embedding: "vector(2)",
  },
  writes: { id: "int64 not null", title: "utf8", price: "int32", source: "struct<url: utf8, page: int32>" },
  appends: true,
};

function contractOf(documents: TableDocument, release = "1.4.0") {
  return parseContract({ format: 1, application: "search", release, tables: { documents } }, "contracts/search.json");
}

function checked(steps: readonly Step[], documents: TableDocument = whole, base?: readonly Step[]) {
  return withContracts(planOf(steps, base), [contractOf(documents)]).migrations.flatMap(({ actions }) => actions);
}

/** What is broken, one text for each action. */
function broken(steps: readonly Step[], documents?: TableDocument, base?: readonly Step[]): readonly string[] {
  return checked(steps, documents, base).map(({ refusal }) =>
    refusal?.reason === "contract" ? refusal.broken.map(({ problem }) => problem).join("; ") : "",
  );
}

test.each<[string, Step, string]>([
  [
    "rename",
    renameColumn("documents", "title", "headline"),
    "reads and writes documents.title, which is renamed to headline",
  ],
  ["drop", dropColumn("documents", "title"), "reads and writes documents.title, which is dropped"],
  ["retype", retypeColumn("documents", "price", int64()), "reads and writes documents.price, which then is int64"],
  [
    "rebuild with the same type",
    retypeColumn("documents", "title", utf8(), { using: "lower(title)" }),
    "reads and writes documents.title, which is rewritten",
  ],
  ["not null", setNullable("documents", "title", false), "writes documents.title, which then is not null"],
  ["nullable", setNullable("documents", "id", true), "reads documents.id, which then is nullable"],
  [
    "new not null column",
    addColumn("documents", "lang", utf8().notNull(), { as: "'en'" }),
    "appends to documents without lang, which is not null then",
  ],
  ["new column", addColumn("documents", "lang", utf8()), ""],
  ["computed column", addComputedColumn("documents", "shout", utf8(), "upper(title)"), ""],
  ["drop of what is not used", dropColumn("documents", "body"), ""],
  ["rename of what is not used", renameColumn("documents", "body", "text"), ""],
  [
    "retype of what is not used",
    retypeColumn("documents", "body", utf8(), { using: "lower(body)" }),
    "appends to documents, which refuses that while body is rewritten",
  ],
  [
    "new field",
    addColumn("documents", "source.fetched", utf8()),
    "writes documents.source, which is rewritten; reads documents.source.url, which is rewritten",
  ],
  [
    "rename of a field",
    renameColumn("documents", "source.url", "link"),
    "reads and writes documents.source.url, which is renamed to source.link",
  ],
  [
    "rename of a struct",
    renameColumn("documents", "source", "origin"),
    "reads documents.source.url, which is renamed to origin.url; writes documents.source, which is renamed to origin",
  ],
  [
    "drop of a field that is only written",
    dropColumn("documents", "source.page"),
    "writes documents.source.page, which is dropped",
  ],
  ["drop of a table", dropTable("documents"), "uses documents, which is dropped"],
  ["rename of a table", renameTable("documents", "papers"), "uses documents, which is renamed to papers"],
  ["rows", execute("documents", { update: { title: "'x'" }, where: "title is null" }), ""],
  ["index", createIndex("documents", "title", fts()), ""],
])("%s", (_, step, expected) => {
  const found = broken([step])[0]!.split("; ").toSorted();
  expect(found).toEqual(expected.split("; ").toSorted());
});

test("new values of another model break a release, since it queries with vectors of the old one", () => {
  const step = reembedColumn("documents", "embedding", {
    type: vector(2),
    from: ["title"],
    key: "id",
    with: "./embed.ts",
    version: "2",
  });
  expect(broken([step])).toEqual([
    "",
    "reads documents.embedding, which gets the values of another model (the old ones are in embedding_old)",
    "",
  ]);
});

test("each action counts, also if the migration ends as it began", () => {
  const there = renameColumn("documents", "title", "headline");
  const back = renameColumn("documents", "headline", "title");
  expect(broken([there, back])).toEqual(["reads and writes documents.title, which is renamed to headline", ""]);
  expect(broken([dropColumn("documents", "title"), addColumn("documents", "title", utf8())])).toEqual([
    "reads and writes documents.title, which is dropped",
    "",
  ]);
  expect(broken([dropTable("documents"), created])).toEqual(["uses documents, which is dropped", ""]);
  const swap = alterColumns("documents", [
    { path: "title", rename: "body" },
    { path: "body", rename: "title" },
  ]);
  expect(broken([swap])).toEqual(["reads and writes documents.title, which is renamed to body"]);
});

test("fields that swap their names in one step break a release, and so does a struct that becomes nullable", () => {
  const base = [
    createTable("documents", {
      source: struct({ url: utf8().notNull(), link: utf8().notNull() }).notNull(),
      parts: list(struct({ a: utf8(), b: utf8(), c: utf8() })),
    }),
  ];
  const swap = (one: string, other: string) => {
    const [first, second] = [one, other].map((path) => path.split(".").at(-1)!);
    return alterColumns("documents", [
      { path: one, rename: second! },
      { path: other, rename: first! },
    ]);
  };
  const reads = { source: "struct<url: utf8 not null> not null", parts: "list<struct<a: utf8>>" };
  expect(broken([swap("source.url", "source.link")], { reads }, base)).toEqual([
    "reads documents.source.url, which is renamed to source.link",
  ]);
  expect(broken([swap("parts.item.a", "parts.item.b")], { reads }, base)).toEqual([
    "reads documents.parts.item.a, which is renamed to parts.item.b",
  ]);
  expect(broken([swap("parts.item.c", "parts.item.b")], { reads }, base)).toEqual([""]);
  expect(broken([swap("parts.item.c", "parts.item.b")], { reads: { parts: "any" } }, base)).not.toEqual([""]);
  const field = { reads: { "source.url": "utf8 not null" } };
  expect(broken([setNullable("documents", "source", true)], field, base)).toEqual([
    "reads documents.source.url, which then is nullable",
  ]);
});

test("what the plan itself adds is protected from its later actions", () => {
  const needed = { reads: { lang: "utf8" } };
  const steps = [addColumn("documents", "lang", utf8()), dropColumn("documents", "lang")];
  expect(broken(steps, needed)).toEqual(["", "reads documents.lang, which is dropped"]);
});

test("an action that has failed is not refused for another reason, and consent does not hide a break", () => {
  const plan = withContracts(planOf([dropColumn("documents", "title")]), [
    contractOf(whole),
    contractOf(whole, "1.5.0"),
  ]);
  expect(() => checkRefusals(plan, "prod")).toThrow(
    "0002_drawn.ts, step 1 (dropColumn) would break a release that still runs: " +
      "search 1.4.0 reads and writes documents.title, which is dropped; search 1.5.0 reads and writes documents.title, which is dropped; " +
      "follow the sequence that breaks none, or remove the contract of a release that no longer runs",
  );
  const { migrations } = planOf([dropColumn("documents", "title")]);
  const failing = migrations.map((one) => ({
    ...one,
    actions: one.actions.map((action) => ({ ...action, refusal: { reason: "failure" as const, problem: "no" } })),
  }));
  const [only] = withContracts({ migrations: failing, now: planOf([]).now }, [contractOf(whole)]).migrations;
  expect(only!.actions[0]!.refusal).toEqual({ reason: "failure", problem: "no" });
});

test("a release with two equal contracts is named once, in refusals and in risks", () => {
  const twice = [contractOf(whole), contractOf(whole)];
  const of = (step: Step) => withContracts(planOf([step]), twice).migrations[0]!.actions[0]!;
  const { refusal } = of(renameColumn("documents", "title", "headline"));
  const once = { application: "search", release: "1.4.0" };
  const problem = "reads and writes documents.title, which is renamed to headline";
  expect(refusal).toMatchObject({ reason: "contract", broken: [{ ...once, problem }] });
  const twins = of(addColumn("documents", "other", vector(2))).risks.filter(({ kind }) => kind === "readers");
  expect(twins).toHaveLength(1);
});

test("the steps that are advised are about the first alteration that breaks a release", () => {
  const [action] = checked([
    alterColumns("documents", [
      { path: "body", rename: "text" },
      { path: "title", rename: "headline" },
    ]),
  ]);
  expect(action!.refusal).toMatchObject({
    sequence: expect.arrayContaining([expect.stringContaining("reads documents.title and writes both")]),
  });
});

test("an action that stopped half-way is finished", () => {
  const plan = planOf([renameColumn("documents", "title", "headline"), dropColumn("documents", "price")]);
  const [migration] = plan.migrations;
  const begun = {
    ...plan,
    migrations: [{ ...migration!, midway: { step: "", commit: 1, indexes: {}, metadata: {} } }],
  };
  const reasons = withContracts(begun, [contractOf(whole)]).migrations[0]!.actions.map(
    ({ refusal }) => refusal?.reason,
  );
  expect(reasons).toEqual([undefined, "contract"]);
});

test.each<[string, TableDocument, string]>([
  ["a name", { reads: { titel: "utf8" } }, "reads documents.titel, which does not exist"],
  ["a type", { reads: { title: "int32" } }, "reads documents.title as int32, but it is utf8"],
  [
    "the items of a list",
    { reads: { tags: "list<utf8 not null>" } },
    "reads documents.tags as list<utf8 not null>, but it has an item that is nullable",
  ],
  [
    "a field",
    { reads: { source: "struct<link: utf8>" } },
    "reads documents.source as struct<link: utf8>, but it has no field link",
  ],
  ["nullability", { reads: { title: "utf8 not null" } }, "reads documents.title as utf8 not null, but it is nullable"],
  ["what it writes", { writes: { id: "int64" } }, "writes documents.id as int64, but it is not null"],
  [
    "what it has to write",
    { writes: { title: "utf8" }, appends: true },
    "appends to documents without id, which is not null",
  ],
])("a contract with the wrong %s is refused, as it would protect nothing", (_, documents, problem) => {
  expect(() => broken([addColumn("documents", "lang", utf8())], documents)).toThrow(
    `the contract contracts/search.json is wrong: search 1.4.0 ${problem}, now and after these migrations; ` +
      "correct the contract, or remove it if that release no longer runs",
  );
});

test("what is wrong with a column that the plan adds is what it is then", () => {
  expect(() => broken([addColumn("documents", "lang", utf8())], { reads: { lang: "int32" } })).toThrow(
    "search 1.4.0 reads documents.lang as int32, but it is utf8, after these migrations; correct the contract",
  );
});

test("a contract may need what the plan leads to, less than a struct has, and any type", () => {
  const steps = [addColumn("documents", "lang", utf8())];
  const needed = { lang: "utf8", source: "struct<page: int32>", tags: "any", "source.url": "any" };
  expect(broken(steps, { reads: needed })).toEqual([""]);
});

test.each<[string, Readonly<Record<string, string>>, readonly string[]]>([
  [
    "a column that it does not write, from one that it writes",
    { body: "lower(`title`)" },
    ["search 1.4.0 writes documents.title and not documents.body: rows that it writes afterwards are missed"],
  ],
  ["a column that it writes", { title: "cast(price as string)" }, []],
  ["a column that it does not write, from no column", { body: "'title'" }, []],
])("an update of %s", (_, update, texts) => {
  const [action] = checked([execute("documents", { update })]);
  const risks = action!.risks.filter(({ kind }) => kind === "writers").map(({ text }) => text);
  expect(risks).toEqual(texts);
});

test("a table without rows to write, and one of others", () => {
  expect(broken([dropTable("documents")], { reads: {} })).toEqual(["uses documents, which is dropped"]);
  expect(withContracts(planOf([]), [])).toEqual(planOf([]));
  const elsewhere = createTable("other", { id: int32() });
  expect(broken([elsewhere, dropTable("other")])).toEqual(["", ""]);
});

test("a written struct needs all its fields that are not null, by whatever path they are written", () => {
  const base = [createTable("documents", { source: struct({ url: utf8().notNull(), page: int32() }) })];
  const step = addColumn("documents", "lang", utf8());
  const needs = (writes: TableDocument["writes"]) => () => broken([step], { writes, appends: true }, base);
  expect(needs({ "source.page": "int32" })).toThrow("appends to documents without source.url, which is not null");
  expect(needs({ source: "struct<page: int32>" })).toThrow("but it has a field url that is not null");
  expect(needs({ source: "struct<url: utf8 not null>" })()).toEqual([""]);
  expect(needs({ "source.url": "utf8 not null" })()).toEqual([""]);
});

test("what breaks no contract but may be noticed is a risk", () => {
  const indexed = [created, createIndex("documents", "title", fts())];
  const risks = (step: Step, documents = whole) =>
    checked([step], documents, indexed)[0]!.risks.flatMap(({ kind, text }) =>
      text.startsWith("search 1.4.0") ? `${kind}: ${text}` : [],
    );
  const writing = { ...whole, writes: { ...whole.writes, title: "utf8" } };
  expect(
    risks(setNullable("documents", "body", false), {
      ...writing,
      writes: { ...writing.writes, body: "utf8" },
      appends: false,
    }),
  ).toEqual([]);
  expect(risks(dropIndex("documents", "title_idx"))).toEqual([
    "readers: search 1.4.0 reads documents.title, which loses index title_idx: full-text searches fail without one, other searches become slower",
  ]);
  expect(risks(addColumn("documents", "second", fixedSizeList(int32(), 2)))).toEqual([
    "readers: search 1.4.0 reads documents.embedding: now that it is not the only vector of its length, searches fail that do not name it",
  ]);
  expect(risks(addColumn("documents", "second", vector(3)))).toEqual([]);
});

/** Rollbacks that break a release, which restore old versions of tables or call the engine for each step. */
import {
  addColumn,
  createTable,
  dropColumn,
  execute,
  float64,
  int32,
  int64,
  reembedColumn,
  renameColumn,
  renameTable,
  retypeColumn,
  struct,
  utf8,
  vector,
  type Step,
} from "lance-migrate";
import { expect, test } from "vitest";
import { foldLedger } from "../../../../../src/ledger/state/fold.ts";
import { checksumOf } from "../../../../../src/migrations/checksum.ts";
import { withContracts } from "../../../../../src/features/contracts/check/broken-contracts.ts";
import { parseContract, type TableDocument } from "../../../../../src/features/contracts/check/contract.ts";
import { makePlan } from "../../../../../src/plan/make-plan.ts";
import { aMigration } from "../../../../simulate/history.ts";
import { abilitiesOf } from "../../../../simulate/target/memory-target.ts";

const created = createTable("docs", {
  id: int32().notNull(),
  a: utf8(),
  c: utf8(),
  n: int32(),
  price: float64(),
  v: vector(2),
  source: struct({ url: utf8(), page: int32() }),
});
/** A rollback can undo it only by restoring the version before. */
const rows = execute("docs", { update: { n: "1" } });
const namespace = abilitiesOf("namespace");
const able = { ...namespace, actions: { ...namespace.actions, addField: true as const, convertColumn: true as const } };

/** The rollback of migrations that ran after the tables were created, the last first. */
function backOf(documents: TableDocument, migrations: readonly (readonly Step[])[], begun: readonly Step[] = []) {
  const all = [[created], ...migrations].map((steps, index) => aMigration(index + 1, steps));
  const records = all.map(({ version, checksum }) => ({
    event: "applied",
    version,
    name: "drawn",
    checksum,
    tables: version > 1 ? { docs: [version, version + 1] } : {},
  }));
  const half = begun.length > 0 && {
    event: "reverting",
    version: all.length,
    name: "drawn",
    step: begun.length,
    total: 2,
    checksum: checksumOf(begun),
  };
  const entries = [...records, ...(half === false ? [] : [half])];
  const plan = makePlan({
    migrations: all,
    pending: all.slice(1).toReversed(),
    direction: "down",
    state: foldLedger(entries.map((one, number) => ({ epoch: 1, number, ...one })) as never),
    inDoubt: new Set(),
    target: { name: "prod", capabilities: able },
    ledger: "_l",
  });
  const contract = { format: 1, application: "search", release: "2", tables: { docs: documents } };
  return withContracts(plan, [parseContract(contract, "2.json")], "down");
}

/** What each action of the rollback breaks. */
function broken(...given: Parameters<typeof backOf>): readonly string[] {
  return backOf(...given).migrations.flatMap(({ actions }) =>
    actions.map(({ refusal, action }) => {
      const found = refusal?.reason === "contract" ? refusal.broken.map(({ problem }) => problem).join("; ") : "";
      return `${action.kind}: ${found}`;
    }),
  );
}

const again = "which gets its values from before the migration back";
test.each<[string, readonly Step[], TableDocument["reads"], string]>([
  ["rows only", [rows], { a: "utf8", n: "int32", "source.url": "utf8" }, ""],
  [
    "values of a rebuild with the same type",
    [retypeColumn("docs", "price", float64(), { using: "price * 100" })],
    { price: "float64" },
    `reads docs.price, ${again}`,
  ],
  ["a cast, for any type", [retypeColumn("docs", "n", int64()), rows], { n: "any" }, `reads docs.n, ${again}`],
  ["a cast", [retypeColumn("docs", "n", int64()), rows], { n: "int64" }, "reads docs.n, which then is int32"],
  [
    "another column by this name",
    [renameColumn("docs", "a", "old"), renameColumn("docs", "c", "a"), rows],
    { a: "utf8" },
    "reads docs.a, which gets the values that are in old now",
  ],
  [
    "another field by this name",
    [
      renameColumn("docs", "source.url", "old"),
      addColumn("docs", "source.url", utf8()),
      renameTable("docs", "papers"),
      renameTable("papers", "docs"),
      rows,
    ],
    { source: "struct<url: utf8>" },
    "reads docs.source.url, which gets the values that are in source.old now",
  ],
  [
    "a column that was dropped and added again",
    [dropColumn("docs", "a"), addColumn("docs", "a", utf8()), rows],
    { a: "utf8" },
    "reads docs.a, which gets the values of a column that the migration dropped",
  ],
  [
    "a new column, for any type",
    [addColumn("docs", "b", utf8()), rows],
    { b: "any" },
    "reads docs.b, which then does not exist",
  ],
  [
    "values of another model",
    [reembedColumn("docs", "v", { type: vector(2), from: ["a"], key: "id", with: "./embed.ts", version: "2" }), rows],
    { v: "vector(2)" },
    "reads docs.v, which gets the values that are in v_old now",
  ],
  [
    "what the release does not read",
    [dropColumn("docs", "c"), retypeColumn("docs", "price", float64(), { using: "price * 100" }), rows],
    { a: "utf8" },
    "",
  ],
  ["a struct with another field", [addColumn("docs", "source.at", utf8()), rows], { "source.url": "utf8" }, ""],
])("a rollback that restores: %s", (_, steps, reads, problem) => {
  const restored = broken({ reads }, [steps]).filter((one) => one.startsWith("restoreTable"));
  expect(restored).toEqual([`restoreTable: ${problem}`]);
});

test("a release that writes has to open a table again that was restored", () => {
  const documents = { writes: { id: "int32 not null" } };
  const risksOf = (needed: TableDocument, steps: readonly Step[]) =>
    backOf(needed, [steps]).migrations[0]!.actions.flatMap(({ risks }) => risks.map(({ text }) => text));
  expect(risksOf(documents, [rows])).toContain(
    "search 2 writes to docs: where it has the table open already, that is refused until it calls checkoutLatest or opens it again",
  );
  const ofRelease = (texts: readonly string[]) => texts.filter((text) => text.startsWith("search 2"));
  expect(ofRelease(risksOf({ reads: {} }, [rows]))).toEqual([]);
  expect(ofRelease(risksOf(documents, [addColumn("docs", "b", utf8())]))).toEqual([]);
});

test("a rollback that has begun is finished, and the migrations before it are checked", () => {
  const reads = { b: "utf8", d: "utf8" };
  const first = [addColumn("docs", "b", utf8())];
  const last = [addColumn("docs", "d", utf8()), addColumn("docs", "e", utf8())];
  const refused = "dropColumns: reads docs.b, which is dropped";
  expect(broken({ reads }, [first, last])).toEqual([
    "dropColumns: ",
    "dropColumns: reads docs.d, which is dropped",
    refused,
  ]);
  const done = backOf({}, [first, last]).migrations[0]!.actions[0]!.action;
  expect(broken({ reads }, [first, last], [done as never])).toEqual(["dropColumns: ", refused]);
});

test("a rollback takes contracts of tables that it does not know", () => {
  const steps = [addColumn("docs", "b", utf8())];
  expect(broken({ reads: { later: "utf8" }, writes: { a: "int32" }, appends: true }, [steps])).toEqual([
    "dropColumns: ",
  ]);
});

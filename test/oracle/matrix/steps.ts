/** Steps on a table {id, t, s: {k}} with a column of any kind, and what each promises. */
import * as m from "../../../src/index.ts";
import type { Step } from "../../../src/steps/registry.ts";

/** Where the column is. */
export type Place = "c" | "s.in";

/** As matrix.py applies it to what a table held. */
export type Operation = readonly [name: string, ...arguments: readonly unknown[]];

export interface Case {
  readonly steps: readonly Step[];
  readonly promise: readonly Operation[];
  /** The columns that were renamed: the path now, and the one before. */
  readonly names?: Readonly<Record<string, string>>;
}

type Cases = Readonly<Record<string, (path: Place) => Case>>;

/** A column beside it. */
const beside = { c: "t", "s.in": "s.k" } as const;
const renamed = { c: "renamed", "s.in": "s.renamed" } as const;

/** The names are pyarrow's. */
const types = {
  int64: m.int64(),
  float: m.float32(),
  double: m.float64(),
  string: m.utf8(),
  large_string: m.largeUtf8(),
  binary: m.binary(),
  large_binary: m.largeBinary(),
  "timestamp[us]": m.timestamp("us"),
  "timestamp[ns]": m.timestamp("ns"),
  "decimal128(38, 10)": m.decimal128(38, 10),
  "list of int32": m.list(m.int32()),
  "large_list of string": m.largeList(m.utf8()),
  "vector of double": m.vector(3, m.float64()),
  "date32[day]": m.date32(),
} as const;

const indexes = {
  btree: m.btree(),
  bitmap: m.bitmap(),
  labelList: m.labelList(),
  fts: m.fts(),
  ivfFlat: m.ivfFlat({ distanceType: "l2", numPartitions: 1 }),
};

const of = (...steps: readonly unknown[]) => steps as readonly Step[];

const code = { from: ["t"], key: "id", with: "./seven.mjs", version: "1" };

export const cases: Cases = {
  "drop it": (path) => ({ steps: of(m.dropColumn("t", path)), promise: [["drop", path]] }),
  "drop another": (path) => ({ steps: of(m.dropColumn("t", beside[path])), promise: [["drop", beside[path]]] }),
  "rename it": (path) => ({
    steps: of(m.renameColumn("t", path, "renamed")),
    promise: [["rename", path, "renamed"]],
    names: { [renamed[path]]: path },
  }),
  "rename another": (path) => ({
    steps: of(m.renameColumn("t", beside[path], "renamed")),
    promise: [["rename", beside[path], "renamed"]],
    names: { [renamed[path]]: beside[path] },
  }),
  "set not null": (path) => ({
    steps: of(m.setNullable("t", path, false)),
    promise: [["nullable", path, false]],
  }),
  "retype another": (path) => ({
    steps: of(m.retypeColumn("t", beside[path], path === "c" ? m.largeUtf8() : m.int64())),
    promise: [["cast", beside[path], path === "c" ? "large_string" : "int64"]],
  }),
  ...Object.fromEntries(
    Object.entries(types).map(([name, type]) => [
      `retype to ${name}`,
      (path: Place): Case => ({ steps: of(m.retypeColumn("t", path, type)), promise: [["cast", path, name]] }),
    ]),
  ),
  "retype using": (path) => ({
    steps: of(m.retypeColumn("t", path, m.utf8(), { using: "cast(id as string)" })),
    promise: [["recreate", path, "string", "id"]],
  }),
  "add a column": () => ({ steps: of(m.addColumn("t", "more", m.utf8())), promise: [["add", "more", "string"]] }),
  "add a field": () => ({ steps: of(m.addColumn("t", "s.more", m.int32())), promise: [["add", "s.more", "int32"]] }),
  "add a column with values": () => ({
    steps: of(m.addColumn("t", "more", m.int32(), { as: "id" })),
    promise: [["copy", "id", "more"]],
  }),
  "add a computed column": () => ({
    steps: of(m.addComputedColumn("t", "more", m.utf8(), "t"), m.refreshColumn("t", "more")),
    promise: [["copy", "t", "more"]],
  }),
  "set null": (path) => ({
    steps: of(m.execute("t", { update: { [path]: "null" }, where: "id = 1" })),
    promise: [["set", path, null, [1]]],
  }),
  "set another": (path) => ({
    steps: of(m.execute("t", { update: { [beside[path]]: path === "c" ? "'x'" : "7" }, where: "id < 3" })),
    promise: [["set", beside[path], path === "c" ? "x" : 7, [0, 1, 2]]],
  }),
  "delete rows": () => ({ steps: of(m.execute("t", { delete: "id = 1" })), promise: [["delete", [1]]] }),
  "insert rows": () => ({
    steps: of(m.insertRows("t", [{ id: 50, t: "x" }], { key: "id" })),
    promise: [["insert", { id: 50, t: "x" }]],
  }),
  "index another": () => ({ steps: of(m.createIndex("t", "id", m.btree())), promise: [["index"]] }),
  ...Object.fromEntries(
    Object.entries(indexes).map(([name, index]) => [
      `index it: ${name}`,
      (path: Place): Case => ({ steps: of(m.createIndex("t", path, index)), promise: [["index"]] }),
    ]),
  ),
  optimize: () => ({ steps: of(m.optimizeTable("t")), promise: [] }),
  "set its metadata": (path) => ({
    steps: of(m.setMetadata("t", path, { owner: "search" })),
    promise: [["metadata", path, "owner", "search"]],
  }),
  "backfill another": () => ({
    steps: of(m.addColumn("t", "more", m.int64()), m.backfillColumn("t", "more", code)),
    promise: [["add", "more", "int64", 7]],
  }),
  "backfill from it": (path) => ({
    steps: of(m.addColumn("t", "more", m.int64()), m.backfillColumn("t", "more", { ...code, from: [path] })),
    promise: [["add", "more", "int64", 7]],
  }),
  "reembed it": (path) => ({
    steps: of(m.reembedColumn("t", path, { ...code, type: m.vector(2), with: "./vector.mjs" })),
    promise: [["vector", path]],
    names: { [`${path}_old`]: path },
  }),
  "drop the table": () => ({ steps: of(m.dropTable("t")), promise: [["gone"]] }),
};

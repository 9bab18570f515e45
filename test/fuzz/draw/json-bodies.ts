/** JSON bodies: those that a route accepts, and mutations of them. */
import type { Chance } from "../../simulate/seeded-random.ts";
import { anyName, columnName, sql } from "./texts.ts";

type Body = Readonly<Record<string, unknown>>;

const kinds = ["BTREE", "BITMAP", "LABEL_LIST", "FTS", "FM", "IVF_FLAT", "IVF_PQ", "IVF_HNSW_SQ", "NONSENSE"];
const types = [
  "int64",
  "float64",
  "large_utf8",
  "float16",
  "struct",
  "list",
  "fixed_size_list",
  "nonsense",
  "timestamp:us",
];
const vector = (chance: Chance) =>
  Array.from({ length: chance.pick([8, 8, 8, 7, 1, 0, 300]) }, () => chance.between(-1, 4));
const version = (chance: Chance) => chance.pick([1, 1, 2, 3, 10, 1_000, 0, -1, 1.5, 2 ** 53]);
const tag = (chance: Chance) =>
  chance.pick(["one", "two", "a/b", "../one", "", "x".repeat(230), "x".repeat(300), anyName(chance)]);

/** A body that may suit the route, by the last parts of its path. A route without one gets a mixture of them all. */
const bodies: Readonly<Record<string, (chance: Chance) => Body>> = {
  describe: (chance) => chance.pick([{}, { version: version(chance) }, { tag: tag(chance) }]),
  exists: () => ({}),
  drop: () => ({}),
  stats: () => ({}),
  rename: (chance) => ({ new_table_name: anyName(chance) }),
  alter_columns: (chance) => ({
    alterations: Array.from({ length: 1 + chance.below(3) }, () => ({
      path: columnName(chance),
      ...(chance.happens(0.4) ? { rename: columnName(chance) } : {}),
      ...(chance.happens(0.4) ? { data_type: { type: chance.pick(types) } } : {}),
      ...(chance.happens(0.4) ? { nullable: chance.happens(0.5) } : {}),
    })),
  }),
  add_columns: (chance) => ({ new_columns: [{ name: columnName(chance), expression: sql(chance) }] }),
  drop_columns: (chance) => ({ columns: [columnName(chance)] }),
  update_field_metadata: (chance) => ({
    updates: [
      {
        path: columnName(chance),
        metadata: { [anyName(chance)]: chance.pick(["v", null]) },
        replace: chance.happens(0.5),
      },
    ],
  }),
  query: (chance) => ({
    ...(chance.happens(0.6) ? { filter: sql(chance) } : {}),
    ...(chance.happens(0.5)
      ? { columns: chance.pick([[columnName(chance)], { [columnName(chance)]: sql(chance) }]) }
      : {}),
    ...(chance.happens(0.5) ? { vector: vector(chance), vector_column: "vector" } : { vector: [] }),
    ...(chance.happens(0.2)
      ? { full_text_query: chance.pick(["title", { query: "title", columns: ["title"] }, { match: {} }]) }
      : {}),
    ...(chance.happens(0.2) ? { order_by: [{ column_name: columnName(chance) }] } : {}),
    ...(chance.happens(0.3)
      ? {
          [chance.pick(["nprobes", "ef", "refine_factor", "offset", "lower_bound"])]: chance.pick([
            1, 0, 10, 4_294_967_295, 1e9,
          ]),
        }
      : {}),
    k: chance.pick([1, 10, 0, 1_000_000, 4_294_967_295, 2 ** 53, 1.5]),
  }),
  count_rows: (chance) => (chance.happens(0.8) ? { predicate: sql(chance) } : { version: version(chance) }),
  update: (chance) => ({
    updates: [[columnName(chance), sql(chance)]],
    ...(chance.happens(0.8) ? { predicate: sql(chance) } : {}),
  }),
  delete: (chance) => ({ predicate: sql(chance) }),
  "version/list": () => ({}),
  restore: (chance) => ({ version: version(chance) }),
  "tags/list": () => ({}),
  "tags/version": (chance) => ({ tag: tag(chance) }),
  "tags/create": (chance) => ({ tag: tag(chance), version: version(chance) }),
  "tags/update": (chance) => ({ tag: tag(chance), version: version(chance) }),
  "tags/delete": (chance) => ({ tag: tag(chance) }),
  create_index: (chance) => ({
    column: columnName(chance),
    index_type: chance.pick(kinds),
    ...(chance.happens(0.3) ? { name: anyName(chance) } : {}),
    ...(chance.happens(0.3) ? { num_partitions: chance.pick([0, 1, 2, -1, 1e9]) } : {}),
    ...(chance.happens(0.2) ? { language: anyName(chance) } : {}),
    ...(chance.happens(0.2) ? { metric_type: chance.pick(["l2", "cosine", "hamming", ""]) } : {}),
  }),
  "index/list": () => ({}),
};

export function jsonBody(chance: Chance, path: string): Body {
  const parts = path.split("/");
  const body = bodies[parts.slice(-2).join("/")] ?? bodies[parts.at(-1)!];
  if (body !== undefined) return body(chance);
  return Object.assign({}, ...Array.from({ length: 2 }, () => chance.pick(Object.values(bodies))(chance))) as Body;
}

const strange: readonly unknown[] = [
  null,
  true,
  0,
  -0,
  1e308,
  2 ** 53,
  -1,
  1.5,
  "",
  " ",
  "\0",
  "\ud800",
  "x".repeat(100_000),
  [],
  {},
  [[]],
  [null],
  { toString: 1 },
  { constructor: { prototype: { polluted: 1 } } },
  { length: 1e9 },
  Array.from({ length: 5_000 }, () => 1),
  Object.fromEntries(Array.from({ length: 5_000 }, (_, place) => [`k${place}`, place])),
];

/** The body as text, after something in it has been replaced. */
export function mutatedJson(chance: Chance, body: Body): string {
  const text = JSON.stringify(body);
  const kind = chance.below(12);
  if (kind < 5) return JSON.stringify(replaced(chance, body));
  if (kind === 5) return text.slice(0, chance.below(text.length + 1));
  if (kind === 6) return deepJson(chance.pick([60, 70, 10_000, 1_000_000]), chance);
  if (kind === 7) return text.replace("{", `{"__proto__":{"polluted":true},"constructor":1,`);
  if (kind === 8)
    return text.replace(/\d+/, chance.pick(["1e400", "-1e400", "9".repeat(1_000), "1e-400", "0x10", "NaN", "01"]));
  if (kind === 9)
    return chance.pick([
      "[]",
      "null",
      "1",
      '"text"',
      "true",
      "\ufeff{}",
      "{}{}",
      "{",
      "}",
      "\u0000",
      " ".repeat(100_000),
    ]);
  if (kind === 10) return text.replace("{", `{${'"a":1,'.repeat(chance.pick([10, 200_000]))}`);
  const at = chance.below(text.length);
  return text.slice(0, at) + String.fromCharCode(chance.below(0x3000)) + text.slice(at + 1);
}

/** With one value, at any depth, replaced by a strange one. */
function replaced(chance: Chance, value: unknown): unknown {
  if (typeof value !== "object" || value === null || chance.happens(0.2)) return chance.pick(strange);
  const keys = Object.keys(value);
  if (keys.length === 0) return chance.pick(strange);
  const key = chance.pick(keys);
  const copy = (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>;
  copy[key] = replaced(chance, copy[key]);
  return copy;
}

function deepJson(depth: number, chance: Chance): string {
  const [open, close] = chance.pick([
    ["[", "]"],
    ['{"a":', "}"],
  ] as const);
  return `{"updates":${open.repeat(depth)}1${close.repeat(chance.pick([depth, 0]))}}`;
}

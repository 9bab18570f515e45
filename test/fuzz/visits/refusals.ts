/** Requests that must be refused and then have changed nothing. */
import { gzipSync, zstdCompressSync } from "node:zlib";
import type { Chance } from "../../simulate/seeded-random.ts";
import type { Message } from "./connection.ts";
import { drawRow, rowsStream, type OwnTable } from "./own-table.ts";

const foreign = [
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "valueOf",
  "__defineGetter__",
  "kwyjibo",
  "ｋ",
];
const values: readonly unknown[] = [1, null, {}, [], "x", true, { constructor: { prototype: {} } }];

/** Bodies in which every object is of known fields, by route. */
const strictBodies: Readonly<Record<string, object>> = {
  count_rows: { predicate: "true" },
  delete: { predicate: "true" },
  update: { predicate: "true", updates: [["title", "'x'"]] },
  alter_columns: {
    alterations: [
      { path: "n", data_type: { type: "int64" } },
      { path: "title", rename: "t" },
    ],
  },
  add_columns: { new_columns: [{ name: "fresh", expression: "1" }] },
  drop_columns: { columns: ["n"] },
  update_field_metadata: { updates: [{ path: "n", replace: true }] },
  restore: { version: 1 },
  "tags/create": { tag: "fresh", version: 1 },
  create_index: { column: "id", index_type: "BTREE", replace: true },
  query: {
    k: 1,
    vector: [],
    order_by: [{ column_name: "id", ascending: true }],
    full_text_query: {
      query: {
        boolean: {
          must: [{ match: { terms: "a", column: "title" } }],
          should: [
            {
              boost: {
                positive: { phrase: { terms: "a b", column: "title" } },
                negative: { multi_match: { query: "a", columns: ["title"] } },
              },
            },
          ],
        },
      },
    },
  },
  rename: { new_table_name: "renamed-by-fuzz" },
  drop: {},
};

/** With one field more in one of the objects, at any level. */
function withForeign(chance: Chance, body: object): object {
  const objects: object[] = [];
  const walk = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    if (!Array.isArray(value)) objects.push(value);
    Object.values(value).forEach(walk);
  };
  walk(body);
  const target = chance.pick(objects);
  const keys = Object.keys(target);
  const key = keys.length > 0 && chance.happens(0.4) ? misspelt(chance, chance.pick(keys)) : chance.pick(foreign);
  const copy = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(copy);
    if (typeof value !== "object" || value === null) return value;
    const entries = Object.entries(value).map(([name, each]) => [name, copy(each)] as const);
    if (value !== target) return Object.fromEntries(entries);
    const more = [key, chance.pick(values)] as const;
    return Object.fromEntries(chance.happens(0.5) ? [...entries, more] : [more, ...entries]);
  };
  return copy(body) as object;
}

function misspelt(chance: Chance, name: string): string {
  return chance.pick([
    `${name}${name.at(-1)}`,
    name.toUpperCase(),
    `${name} `,
    `_${name}`,
    name.replace(/(.)(.)$/, "$1x$2"),
  ]);
}

const badQueries = [
  "mode=constructor",
  "mode=__proto__",
  "mode=toString",
  "mode=hasOwnProperty",
  "mode=overwrit",
  "mode=overwrite&mode=append",
  "mode=append&mode=append",
  "moode=overwrite",
  "__proto__=overwrite",
  "constructor=overwrite",
  "mode[]=overwrite",
  "mode%00=append",
  "upload_id=5",
  "mode=append%20",
];

/** What must be answered with a refusal, whatever the table holds. */
export function drawRefusal(chance: Chance, table: OwnTable): Message & { readonly framing?: readonly string[] } {
  const at = (action: string) => `/v1/table/${table.name}/${action}${chance.happens(0.2) ? "/" : ""}`;
  const stream = () => rowsStream(table.content.columns, [drawRow(chance, table, 1_000_000)]);
  return chance.pick<() => Message>([
    ...Array.from({ length: 6 }, () => () => {
      const action = chance.pick(Object.keys(strictBodies));
      return { path: at(action), body: withForeign(chance, strictBodies[action]!) };
    }),
    () => ({ path: `${at("insert")}?${chance.pick(badQueries)}`, body: stream() }),
    () => ({ path: `${at("create")}?${chance.pick(badQueries)}`, body: stream() }),
    () => ({ path: `${at("create")}?mode=create`, body: stream() }),
    () => ({ path: `${at("merge_insert")}?on=id&${chance.pick(foreign)}=true`.replace("ｋ", "k"), body: stream() }),
    () => ({
      path: `${at("merge_insert")}?on=${chance.pick(["valueOf", "isPrototypeOf", "missing"])}&when_not_matched_insert_all=true`,
      body: stream(),
    }),
    () => ({ path: at("insert"), body: gzipSync(stream()), headers: [["content-encoding", "gzip"]] }),
    () => ({ path: at("insert"), body: zstdCompressSync(stream()), headers: [["content-encoding", "zstd"]] }),
    () => ({ path: at("insert"), body: gzipSync(Buffer.alloc(2_000_000)), headers: [["content-encoding", "gzip"]] }),
    () => ({
      path: at("delete"),
      body: { predicate: chance.pick(["", "id = ", "true; DROP TABLE x", "nothing = 1", "id = 1 AND"]) },
    }),
    () => ({ path: at("update"), body: { updates: [[chance.pick(["missing", "valueOf", "isPrototypeOf"]), "1"]] } }),
    () => ({
      path: at("alter_columns"),
      body: {
        alterations: [
          { path: "title", rename: "t" },
          {
            path: chance.pick(["missing", "toString", "n"]),
            ...chance.pick([{ rename: "id" }, { rename: "T" }, { rename: "_rowid" }]),
          },
        ],
      },
    }),
    () => ({ path: at("restore"), body: { version: table.version + 1 + chance.below(5) } }),
    () => ({ path: at("tags/create"), body: { tag: "fresh", version: table.version + 1 } }),
    () => ({
      path: at("add_columns"),
      body: { new_columns: [{ name: chance.pick(["id", "ID", "_rowid", "a.b", ""]), expression: "1" }] },
    }),
  ])();
}

/** Numbers as they stand in JSON, at the limits of what programs count with. */
export const numbers =
  `0 -0 -1 1 2 1.5 1e0 2.0 1e400 -1e400 1e-400 NaN Infinity 0x1 01 127 2147483647 2147483648 4294967295 4294967296
  9007199254740991 9007199254740992 9223372036854775807 18446744073709551615 18446744073709551616 1${"0".repeat(400)} true "1"`.split(
    /\s+/,
  );

/** Requests of a client to its own table, each with what it must do to it and what its answer must be. */
import type { Chance } from "../../simulate/seeded-random.ts";
import type { Answer } from "../send.ts";
import type { Message } from "./connection.ts";
import {
  commit,
  comparable,
  drawCondition,
  drawRow,
  drawRows,
  quoted,
  rowsOfArrow,
  rowsStream,
  words,
  type Condition,
  type OwnTable,
  type Row,
} from "./own-table.ts";

export interface Step {
  readonly message: Message;
  /** Whether it is carried out: it changes the table, or it gives what it asks for. */
  readonly isDone: boolean;
  /** What is wrong with the answer to a step that is done. */
  readonly problem?: (answer: Answer) => string | undefined;
  /** What the embedded engine must find as well. */
  readonly query?: EmbeddedQuery;
}

export interface EmbeddedQuery {
  readonly filter: string | undefined;
  readonly columns: readonly string[] | undefined;
  readonly ordered: boolean;
  readonly limit: number;
  readonly offset: number;
}

type Draw = (chance: Chance, table: OwnTable) => Step | undefined;

const jsonOf = ({ body }: Answer) => JSON.parse(body.toString()) as Readonly<Record<string, unknown>>;

/** Differences of an answer in JSON from what it must hold. */
function holding(expected: Readonly<Record<string, unknown>>) {
  return (answer: Answer): string | undefined => {
    const found = jsonOf(answer);
    const wrong = Object.entries(expected).find(
      ([name, value]) => JSON.stringify(found[name]) !== JSON.stringify(value),
    );
    return wrong && `${wrong[0]} is ${JSON.stringify(found[wrong[0]])} instead of ${JSON.stringify(wrong[1])}`;
  };
}

function step(table: OwnTable, action: string, body: Message["body"], problem?: Step["problem"]): Step {
  return { message: { path: `/v1/table/${table.name}/${action}`, body }, isDone: true, ...(problem && { problem }) };
}

/** A condition that holds for some rows: the engine makes no version where nothing changes. */
function matching(chance: Chance, table: OwnTable): Condition {
  const drawn = drawCondition(chance, table);
  return table.content.rows.some((row) => drawn.holds(row)) ? drawn : { sql: "true", holds: () => true };
}

const insert: Draw = (chance, table) => {
  const rows = drawRows(chance, table, 1 + chance.below(12));
  commit(table, { rows: [...table.content.rows, ...rows] });
  const stream = rowsStream(table.content.columns, rows, chance.pick(["one", "one", "batches"]));
  const mode = chance.pick(["", "", "?mode=append", "?mode=Append"]);
  return step(table, `insert${mode}`, stream, holding({ version: table.version, num_inserted_rows: rows.length }));
};

const overwrite: Draw = (chance, table) => {
  const rows = drawRows(chance, table, 3 + chance.below(20));
  commit(table, { rows, indexes: new Set() });
  return step(
    table,
    "insert?mode=overwrite",
    rowsStream(table.content.columns, rows),
    holding({ version: table.version }),
  );
};

const update: Draw = (chance, table) => {
  if (table.content.rows.length === 0) return undefined;
  const condition = matching(chance, table);
  const word = chance.pick(words);
  const set = chance.pick<readonly [string, string, (row: Row) => Row[string]]>([
    ["title", quoted(word), () => word],
    ["n", "n + 1", (row) => (row["n"] === null ? null : Number(row["n"]) + 1)],
    ["n", "NULL", () => null],
  ]);
  const [column, sql, value] = set;
  const isHit = (row: Row) => condition.holds(row) === true;
  const count = table.content.rows.filter(isHit).length;
  commit(table, { rows: table.content.rows.map((row) => (isHit(row) ? { ...row, [column]: value(row) } : row)) });
  return step(
    table,
    "update",
    { predicate: condition.sql, updates: [[column, sql]] },
    holding({ version: table.version, rows_updated: count, updated_rows: count }),
  );
};

const remove: Draw = (chance, table) => {
  if (table.content.rows.length === 0) return undefined;
  const condition = matching(chance, table);
  // Most of them leave rows for the requests that follow.
  if (condition.sql === "true" && chance.happens(0.8)) return undefined;
  const left = table.content.rows.filter((row) => condition.holds(row) !== true);
  const count = table.content.rows.length - left.length;
  commit(table, { rows: left });
  return step(
    table,
    "delete",
    { predicate: condition.sql },
    holding({ version: table.version, num_deleted_rows: count }),
  );
};

const merge: Draw = (chance, table) => {
  const old = table.content.rows
    .filter(() => chance.happens(0.2))
    .map((row) => drawRow(chance, table, Number(row["id"])));
  const added = drawRows(chance, table, 1 + chance.below(4));
  const byId = new Map(old.map((row) => [row["id"], row]));
  commit(table, { rows: [...table.content.rows.map((row) => byId.get(row["id"]!) ?? row), ...added] });
  return step(
    table,
    "merge_insert?on=id&when_matched_update_all=true&when_not_matched_insert_all=true",
    rowsStream(table.content.columns, [...old, ...added]),
    holding({ version: table.version, num_inserted_rows: added.length, num_updated_rows: old.length }),
  );
};

const addColumn: Draw = (chance, table) => {
  if (table.content.columns.length > 5) return undefined;
  const name = chance.happens(0.2) ? chance.pick(["constructor", "toString", "__proto__"]) : `x${table.nextName++}`;
  if (table.content.columns.some((column) => column.name === name)) return undefined;
  commit(table, {
    columns: [...table.content.columns, { name, type: "int32" }],
    rows: table.content.rows.map((row) => Object.fromEntries([...Object.entries(row), [name, Number(row["id"]) * 2]])),
  });
  return step(
    table,
    "add_columns",
    { new_columns: [{ name, expression: "CAST(id * 2 AS INT)" }] },
    holding({ version: table.version }),
  );
};

const own = ({ content }: OwnTable) => content.columns.slice(3);
const without = (row: Row, name: string) => Object.entries(row).filter(([each]) => each !== name);

const dropColumn: Draw = (chance, table) => {
  const column = chance.pick(own(table));
  if (column === undefined) return undefined;
  commit(table, {
    columns: table.content.columns.filter(({ name }) => name !== column.name),
    rows: table.content.rows.map((row) => Object.fromEntries(without(row, column.name))),
  });
  return step(table, "drop_columns", { columns: [column.name] }, holding({ version: table.version }));
};

const alterColumn: Draw = (chance, table) => {
  const column = chance.pick(own(table));
  if (column === undefined) return undefined;
  const rename = chance.happens(0.5) ? `y${table.nextName++}` : undefined;
  const type = rename === undefined || chance.happens(0.3) ? (column.type === "int32" ? "int64" : "int32") : undefined;
  const altered = { name: rename ?? column.name, type: type ?? column.type };
  commit(table, {
    columns: table.content.columns.map((each) => (each.name === column.name ? altered : each)),
    rows: table.content.rows.map((row) =>
      Object.fromEntries([...without(row, column.name), [altered.name, row[column.name]!]]),
    ),
  });
  return step(table, "alter_columns", {
    alterations: [{ path: column.name, ...(rename && { rename }), ...(type && { data_type: { type } }) }],
  });
};

const restore: Draw = (chance, table) => {
  const version = 1 + chance.below(table.version);
  const old = table.history.get(version);
  if (old === undefined) return undefined;
  commit(table, old);
  return step(table, "restore", { version }, holding({ version: table.version }));
};

const createIndex: Draw = (chance, table) => {
  const [column, type] = chance.pick([
    ["id", "BTREE"],
    ["title", "FTS"],
    ["n", "BITMAP"],
  ] as const);
  if (table.content.rows.length === 0) return undefined;
  commit(table, { indexes: new Set([...table.content.indexes, `${column}_idx`]) });
  return step(table, "create_index", { column, index_type: type });
};

const dropIndex: Draw = (chance, table) => {
  const name = chance.pick([...table.content.indexes]);
  if (name === undefined) return undefined;
  commit(table, { indexes: new Set([...table.content.indexes].filter((each) => each !== name)) });
  return step(table, `index/${name}/drop`, {});
};

const tagNames = ["one", "two", "constructor", "hasOwnProperty", "toString", "__defineGetter__"];

const createTag: Draw = (chance, table) => {
  const tag = chance.pick(tagNames.filter((name) => !table.tags.has(name)));
  if (tag === undefined) return undefined;
  const version = 1 + chance.below(table.version);
  table.tags.set(tag, version);
  return step(table, "tags/create", { tag, version });
};

const moveTag: Draw = (chance, table) => {
  const tag = chance.pick([...table.tags.keys()]);
  if (tag === undefined) return undefined;
  const version = 1 + chance.below(table.version);
  table.tags.set(tag, version);
  return step(table, "tags/update", { tag, version });
};

const deleteTag: Draw = (chance, table) => {
  const tag = chance.pick([...table.tags.keys()]);
  if (tag === undefined) return undefined;
  table.tags.delete(tag);
  return step(table, "tags/delete", { tag });
};

const count: Draw = (chance, table) => {
  const condition = drawCondition(chance, table);
  const isOld = chance.happens(0.3);
  const version = isOld ? 1 + chance.below(table.version) : table.version;
  const rows = table.history.get(version)!.rows;
  const expected = rows.filter((row) => condition.holds(row) === true).length;
  return step(table, "count_rows", { predicate: condition.sql, ...(isOld && { version }) }, ({ body }) =>
    body.toString() === String(expected) ? undefined : `${body.toString()} rows instead of ${expected}`,
  );
};

const describe: Draw = (chance, table) => {
  const tag = chance.happens(0.3) ? chance.pick([...table.tags.keys()]) : undefined;
  const version = tag === undefined ? table.version : table.tags.get(tag)!;
  const names = table.history.get(version)!.columns.map(({ name }) => name);
  return step(table, "describe", tag === undefined ? {} : { tag }, (answer) => {
    const { schema } = jsonOf(answer) as { readonly schema: { readonly fields: readonly { readonly name: string }[] } };
    const found = schema.fields.map(({ name }) => name);
    if (JSON.stringify(found) !== JSON.stringify(names)) return `columns ${found} instead of ${names}`;
    return holding({ version, table: table.name })(answer);
  });
};

const query: Draw = (chance, table) => {
  const { columns, rows } = table.content;
  const condition = chance.happens(0.7) ? drawCondition(chance, table) : undefined;
  const all = columns.map(({ name }) => name);
  const names = chance.happens(0.5) ? all.filter((name) => name === "id" || chance.happens(0.5)) : undefined;
  const ordered = chance.happens(0.5);
  const limit = chance.pick([1, 3, 10, 1_000]);
  const offset = ordered && chance.happens(0.4) ? chance.below(6) : 0;
  const found = rows
    .filter((row) => condition === undefined || condition.holds(row) === true)
    .toSorted((one, other) => Number(one["id"]) - Number(other["id"]));
  const page = found.slice(offset, offset + limit);
  const body = {
    vector: [],
    k: limit,
    ...(condition && { filter: condition.sql }),
    ...(names && { columns: names }),
    ...(ordered && { order_by: [{ column_name: "id", ascending: true }] }),
    ...(offset > 0 && { offset }),
  };
  const problem = ({ body: data }: Answer) => {
    const given = rowsOfArrow(data);
    const shown = names ?? all;
    if (given.length !== page.length) return `${given.length} rows instead of ${page.length}`;
    const possible = new Set(comparable(ordered ? page : found, shown));
    const strange = comparable(given, shown).find((row) => !possible.has(row));
    if (strange !== undefined) return `a row ${strange} that is none`;
    const ids = given.map((row) => row["id"]);
    if (new Set(ids).size < ids.length) return "a row twice";
    return ordered && ids.some((id, at) => id !== page[at]!["id"]) ? `order ${ids}` : undefined;
  };
  return {
    ...step(table, "query", body, problem),
    query: { filter: condition?.sql, columns: names, ordered, limit, offset },
  };
};

const lists: Draw = (chance, table) => {
  const { version, tags, content } = table;
  const [byName, indexes] = [
    [...tags].toSorted(([one], [other]) => (one < other ? -1 : 1)),
    [...content.indexes].toSorted(),
  ];
  return chance.pick<() => Step>([
    () => step(table, "exists", {}),
    () => step(table, "stats", {}, holding({ num_rows: content.rows.length })),
    () =>
      step(table, "version/list", {}, (answer) => {
        const { versions } = jsonOf(answer) as { readonly versions: readonly { readonly version: number }[] };
        const found = versions.map((each) => each.version);
        return found.length === version && found.every((each, at) => each === at + 1) ? undefined : `versions ${found}`;
      }),
    () =>
      step(table, "tags/list", {}, (answer) => {
        const given = jsonOf(answer) as { readonly tags: Readonly<Record<string, { readonly version: number }>> };
        const found = Object.entries(given.tags).map(([tag, each]) => [tag, each.version]);
        return JSON.stringify(found) === JSON.stringify(byName) ? undefined : `tags ${JSON.stringify(found)}`;
      }),
    () =>
      step(table, "index/list", {}, (answer) => {
        const given = jsonOf(answer) as { readonly indexes: readonly { readonly index_name: string }[] };
        const found = given.indexes.map((each) => each.index_name);
        return JSON.stringify(found) === JSON.stringify(indexes) ? undefined : `indexes ${found} instead of ${indexes}`;
      }),
  ])();
};

/** With how often each is drawn. */
const weights: readonly (readonly [Draw, number])[] = [
  [insert, 3],
  [update, 2],
  [remove, 1],
  [merge, 1],
  [overwrite, 1],
  [addColumn, 2],
  [dropColumn, 1],
  [alterColumn, 2],
  [restore, 1],
  [createIndex, 1],
  [dropIndex, 1],
  [createTag, 2],
  [moveTag, 1],
  [deleteTag, 1],
  [count, 3],
  [describe, 1],
  [query, 4],
  [lists, 3],
];

const draws = weights.flatMap(([draw, weight]) => Array.from({ length: weight }, () => draw));

const reads: readonly Draw[] = [count, describe, query, query, lists];

/** One that the table is ready for. What it does to the model is done at once. */
export function drawStep(chance: Chance, table: OwnTable): Step {
  return chance.pick(draws)(chance, table) ?? drawStep(chance, table);
}

export function drawRead(chance: Chance, table: OwnTable): Step {
  return chance.pick(reads)(chance, table) ?? drawRead(chance, table);
}

/**
 * Steps as fast-check draws them: a draft says which kind, and by numbers what of the database as it then is. So a draft
 * means something on every database, and a sequence of them shrinks to one that is as short as can be.
 */
import * as fc from "../support/fast-check.ts";
import { childColumns, type Column, type DataType } from "../../src/schema/data-type.ts";
import { withoutMetadata } from "../../src/schema/metadata.ts";
import { formatPath, parsePath, type Path } from "../../src/schema/path.ts";
import type { RowValue, RowValues } from "../../src/schema/row-values.ts";
import type { Database } from "../../src/schema/table.ts";
import { indexKinds, indexProblem, type IndexType } from "../../src/schema/table-index.ts";
import { stepNames, type Step, type StepName } from "../../src/steps/registry.ts";
import { anyColumns, columnName, leafType, typeNear } from "../support/drawn-tables.ts";
import { literalOf, quoted } from "./sql.ts";
import { canHold, valueOf } from "./values.ts";

export interface Draft {
  readonly kind: StepName;
  /** Which table, and which column of it. */
  readonly table: number;
  readonly column: number;
  readonly other: number;
  readonly name: string;
  readonly columns: readonly Column[];
  readonly type: DataType;
  /** What else is to be chosen follows from it. */
  readonly seed: number;
  readonly usual: boolean;
  readonly flag: boolean;
}

/** The engine can't create the others (test/unit/schema/declare/validate.test.ts). */
const creatable = anyColumns.filter(
  (columns) => !/"fixedSizeList".*"fixedSizeList".*"struct"/.test(JSON.stringify(columns)),
);

const item = (type: fc.Arbitrary<DataType>): fc.Arbitrary<Column> =>
  type.map((one) => ({ name: "item", type: one, nullable: true }));

const scalar = leafType.filter(canHold);
const float = fc.constantFrom<DataType>({ kind: "float16" }, { kind: "float32" }, { kind: "float64" });
const holdable: fc.Arbitrary<DataType> = fc.oneof(
  { weight: 5, arbitrary: scalar },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("list" as const), item: item(scalar) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("fixedSizeList" as const), item: item(float), length: fc.constant(8) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("struct" as const), fields: fc.constantFrom("x", "y").chain(fieldsOf) }),
  },
);

function fieldsOf(first: string): fc.Arbitrary<readonly Column[]> {
  return fc.tuple(scalar, scalar, fc.boolean()).map(([one, other, nullable]) => [
    { name: first, type: one, nullable },
    { name: "z", type: other, nullable: true },
  ]);
}

const plainColumns = fc.uniqueArray(fc.record({ name: columnName, type: holdable, nullable: fc.boolean() }), {
  minLength: 1,
  maxLength: 3,
  selector: ({ name }) => name.toLowerCase(),
});

/** Kinds of which one needs the other before it are more likely than the rest. */
const pairs = ["addComputedColumn", "refreshColumn", "createIndex", "dropIndex"] as const;
/** A step on one table can't be a `populateTable`: all would be refused. Its own tests draw what it does. */
export const drawnNames = stepNames.filter((name) => name !== "populateTable");

const kinds = fc.constantFrom(...drawnNames, ...pairs, "createIndex", "dropIndex");

export const drafts: fc.Arbitrary<readonly Draft[]> = fc.array(draft(kinds), {
  minLength: 2,
  maxLength: 6,
});

/** The first step of every sequence: a table with rows, of types that rows can hold more often than not. */
export const beginning: fc.Arbitrary<Draft> = draft(fc.constant("createTable"));

function draft(kind: fc.Arbitrary<StepName>): fc.Arbitrary<Draft> {
  return fc.record({
    kind,
    table: fc.nat({ max: 3 }),
    column: fc.nat({ max: 11 }),
    other: fc.nat({ max: 11 }),
    name: columnName,
    columns: fc.oneof({ weight: 4, arbitrary: plainColumns }, { weight: 1, arbitrary: creatable }),
    type: leafType,
    seed: fc.nat({ max: 2 ** 20 }),
    usual: fc.oneof({ weight: 4, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
    flag: fc.boolean(),
  });
}

const tableNames = ["t", "u", "v"];
const indexNames = ["one", "two"];

/** The step that a draft means on this database. */
export function stepOf(draft: Draft, database: Database): Step {
  return steps[draft.kind](draft, somewhere(draft, database));
}

interface Somewhere {
  readonly table: string;
  readonly columns: readonly Column[];
  readonly indexes: readonly string[];
  readonly path: string;
  readonly type: DataType;
  readonly nullable: boolean;
  /** One of the table's own columns, most of the time. */
  readonly own: Column;
}

const nowhere: Column = { name: "nowhere", type: { kind: "int32" }, nullable: true };

function somewhere({ table, column, other, usual }: Draft, database: Database): Somewhere {
  const there = [...database.keys()];
  const name = (usual ? there : tableNames)[table % (usual ? there.length || 1 : tableNames.length)] ?? "t";
  const { columns: known = [], indexes = {} } = database.get(name) ?? {};
  // A step gives no metadata with a type.
  const columns = known.map(withoutMetadata);
  const places = [...placesOf(columns), ...(usual ? [] : [{ path: ["nowhere"], column: nowhere }])];
  const place = places[column % (places.length || 1)] ?? { path: ["nowhere"], column: nowhere };
  return {
    table: name,
    columns,
    indexes: Object.entries(indexes).flatMap(([index, known]) => (known === null ? [] : [index])),
    path: formatPath(place.path),
    type: place.column.type,
    nullable: place.column.nullable,
    own: columns[other % (columns.length || 1)] ?? nowhere,
  };
}

/** Every column of a table, at any depth. */
function placesOf(columns: readonly Column[], parent: Path = []): readonly { path: Path; column: Column }[] {
  return columns.flatMap((column) => {
    const path = [...parent, column.name];
    return [{ path, column }, ...placesOf(childColumns(column.type), path)];
  });
}

/** One of an arbitrary's values, always the same of a seed. */
function one<Value>(arbitrary: fc.Arbitrary<Value>, seed: number): Value {
  return fc.sample(arbitrary, { numRuns: 1, seed })[0]!;
}

const steps: { readonly [Name in StepName]: (draft: Draft, at: Somewhere) => Extract<Step, { kind: Name }> } = {
  addColumn: (draft, { table, own, columns, path, type: around }) => {
    const { name, seed, flag, usual } = draft;
    const type = usual ? draft.type : (draft.columns[0]?.type ?? draft.type);
    if (around.kind === "struct") {
      const field = formatPath([...parsePath(path), name]);
      return { kind: "addColumn", table, name: field, type, nullable: usual || seed % 3 !== 0 };
    }
    const as = usual && flag ? undefined : expressionFor(type, own, columns, seed);
    const nullable = type.kind === "null" || seed % 3 !== 0;
    return { kind: "addColumn", table, name, type, nullable, as };
  },
  addComputedColumn: ({ name, seed, type }, { table, own, columns }) => ({
    kind: "addComputedColumn",
    table,
    name,
    type,
    computed: expressionFor(type, own, columns, seed),
  }),
  refreshColumn: ({ usual }, { table, own, columns }) => {
    const computed = columns.find((column) => column.computed !== undefined);
    return { kind: "refreshColumn", table, path: formatPath([usual && computed ? computed.name : own.name]) };
  },
  optimizeTable: (_, { table }) => ({ kind: "optimizeTable", table }),
  alterColumns: ({ name, seed, type: any, other, usual }, { table, path, type, nullable, own }) => ({
    kind: "alterColumns",
    table,
    alterations: [
      {
        path,
        rename: name,
        ...(seed % 2 === 0 ? { nullable: !nullable } : { type: usual ? one(typeNear(type), seed) : any }),
      },
      ...(other % 2 === 0 ? [{ path: formatPath([own.name]), rename: seed % 2 === 0 ? path : "other" }] : []),
    ],
  }),
  // Sequences have no code of a project that could compute something, so these are always refused.
  backfillColumn: (_, { table, own }) => ({
    kind: "backfillColumn",
    table,
    path: formatPath([own.name]),
    from: [own.name],
    key: own.name,
    with: "./no-such-module.ts",
    version: "1",
  }),
  reembedColumn: (_, { table, own }) => ({
    kind: "reembedColumn",
    table,
    path: formatPath([own.name]),
    type: own.type,
    from: [own.name],
    key: own.name,
    with: "./no-such-module.ts",
    version: "1",
  }),
  populateTable: (_, { table, own }) => ({
    kind: "populateTable",
    table,
    from: table,
    columns: [own.name],
    key: own.name,
    source: own.name,
    mark: own.name,
    with: "./no-such-module.ts",
    version: "1",
  }),
  createIndex: ({ seed, usual, column }, { table, path, type }) => ({
    kind: "createIndex",
    table,
    path,
    type: one(indexFor(type, usual), seed),
    ...(column % 3 === 0 ? {} : { name: indexNames[column % indexNames.length]! }),
    ...(seed % 3 === 0 && { replace: true }),
  }),
  createTable: ({ table, columns, seed, flag }) => {
    const whole = columns.every(({ type }) => canHold(type));
    return {
      kind: "createTable",
      table: tableNames[table % tableNames.length]!,
      columns: [...columns],
      ...(whole && (flag || seed % 4 !== 0) ? { rows: rowsOf(columns, seed) } : {}),
    };
  },
  dropColumn: (_, { table, path }) => ({ kind: "dropColumn", table, path }),
  dropIndex: (draft, { table, indexes }) => ({ kind: "dropIndex", table, name: indexOf(draft, indexes) }),
  rebuildIndex: (draft, { table, indexes }) => ({ kind: "rebuildIndex", table, name: indexOf(draft, indexes) }),
  dropTable: (_, { table }) => ({ kind: "dropTable", table }),
  execute: ({ seed, flag, usual }, { table, path, type, own, columns }) => {
    const where = seed % 3 === 0 ? `${quoted(own.name)} is null` : seed % 3 === 1 ? "true" : "false";
    const change = {
      [usual ? formatPath([own.name]) : path]: expressionFor(usual ? own.type : type, own, columns, seed),
    };
    return {
      kind: "execute",
      table,
      change: flag ? { update: change, ...(seed % 2 === 0 ? { where } : {}) } : { delete: where },
    };
  },
  insertRows: ({ seed, usual }, { table, columns, own }) => {
    const held = columns.filter(({ type }) => canHold(type));
    const keys = held.filter(({ type }) => childColumns(type).length === 0);
    const key = usual ? (keys[seed % (keys.length || 1)] ?? own).name : own.name;
    const rows = rowsOf(usual ? held : held.filter(({ name }) => name !== own.name), seed, 3);
    // Otherwise the fold would refuse most of them, for having the same key.
    const different = rows.filter(
      ({ [key]: one }, at) => one !== null && rows.findIndex((row) => row[key] === one) === at,
    );
    return { kind: "insertRows", table, rows: usual ? different : rows, key };
  },
  renameColumn: ({ name }, { table, path }) => ({ kind: "renameColumn", table, path, name }),
  renameTable: ({ other }, { table }) => ({ kind: "renameTable", table, name: tableNames[other % tableNames.length]! }),
  retypeColumn: ({ seed, type: any, usual, flag }, { table, path, type, own, columns }) => {
    const to = usual ? one(typeNear(type), seed) : any;
    if (flag) return { kind: "retypeColumn", table, path, type: to };
    const using = usual ? quoted(own.name) : expressionFor(any, own, columns, seed);
    return {
      kind: "retypeColumn",
      table,
      path: usual ? formatPath([own.name]) : path,
      type: usual ? one(typeNear(own.type), seed) : any,
      using,
    };
  },
  setMetadata: ({ seed }, { table, path }) => ({
    kind: "setMetadata",
    table,
    path,
    metadata: metadata[seed % metadata.length]!,
  }),
  setNullable: ({ flag, usual }, { table, path, nullable }) => ({
    kind: "setNullable",
    table,
    path,
    nullable: usual ? !nullable : flag,
  }),
};

const metadata: readonly Record<string, string | null>[] = [
  { unit: "EUR" },
  { unit: 'it\'s "quoted"', model: "e5" },
  { unit: null },
  { model: "", unit: null },
];

/** SQL for a column of that type: most of the time of that type. */
function expressionFor(type: DataType, own: Column, columns: readonly Column[], seed: number): string {
  const same = columns.find((column) => column.type.kind === type.kind);
  const choices = [
    literalOf(type),
    literalOf(type),
    "null",
    same && quoted(same.name),
    quoted(own.name),
    "'7'",
    "no_such",
  ];
  return choices[seed % choices.length] ?? "null";
}

function indexFor(type: DataType, usual: boolean): fc.Arbitrary<IndexType> {
  const all = indexKinds.map((kind): IndexType => ({ kind, options: optionsFor(kind) }));
  const fitting = all.filter((index) => indexProblem(index, type) === undefined);
  return fc.constantFrom(...(usual && fitting.length > 0 ? fitting : all));
}

function optionsFor(kind: IndexType["kind"]): IndexType["options"] {
  if (kind === "ivfPq" || kind === "hnswPq") return { numPartitions: 1, numSubVectors: 2, maxIterations: 2 };
  if (/^(ivf|hnsw)/.test(kind)) return { numPartitions: 1, maxIterations: 2 };
  return kind === "fts" ? { withPosition: true } : {};
}

/** A few rows, and now and then as many as a vector index needs. */
function rowsOf(columns: readonly Column[], seed: number, most = 4): readonly RowValues[] {
  const row = fc.record(
    Object.fromEntries(columns.map(({ name, type, nullable }) => [name, cell(type, nullable)])),
  ) as fc.Arbitrary<Record<string, RowValue>>;
  const few = fc.sample(row, { numRuns: 1 + (seed % most), seed });
  if (seed % 20 !== 7) return few;
  return Array.from({ length: 256 }, (_, index) => few[index % few.length]!);
}

function cell(type: DataType, nullable: boolean): fc.Arbitrary<RowValue> {
  const value = valueOf(type);
  return nullable ? fc.option(value, { freq: 4 }) : value;
}

/** The name of an index, which is there if any is: most tables have none. */
function indexOf({ column }: Draft, there: readonly string[]): string {
  return there[column % there.length] ?? indexNames[column % 2]!;
}

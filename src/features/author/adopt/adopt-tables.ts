/** Steps that lead from the tables that migrations make to the existing tables. Pure. */
import { problemIn } from "../../../errors/migrate-error.ts";
import { applyActions } from "../../../actions/apply-action.ts";
import {
  childColumns,
  formatType,
  itemName,
  ownValue,
  wasDeclaredAs,
  withChildColumns,
  type Column,
} from "../../../schema/data-type.ts";
import { extensionKey, extensionName, reservedProblem } from "../../../schema/reserved-metadata.ts";
import { withoutMetadata } from "../../../schema/metadata.ts";
import { columnNameProblem, tableNameProblem } from "../../../schema/names.ts";
import { declaredColumn as columnShape } from "../../../schema/declare/validate.ts";
import { formatPath, type Path } from "../../../schema/path.ts";
import { indexType } from "../../../schema/declare/index-options.ts";
import { formatIndex, isRecreatable, sameIndex, type FoundIndex } from "../../../schema/table-index.ts";
import { columnsWithin, findColumn, twinOf, type Database, type Table } from "../../../schema/table.ts";
import { compileStep, type Step } from "../../../steps/registry.ts";
import { isComputed } from "../../../wire/arrow/computed-column.ts";
import { diff, type Diff, type DiffOptions } from "../generate/diff-tables.ts";

export interface Adoption extends Diff {
  /** What no step recreates, as text. */
  readonly left: readonly string[];
  /** The tables of which `left` lists something. */
  readonly partial: ReadonlySet<string>;
  /** The found tables as they were compared: without column metadata and without what `left` lists. */
  readonly tables: Database;
}

interface AdoptOptions extends DiffOptions {
  /** Whether to take `lance-schema:` metadata too, which `down` can't revert; false by default. */
  readonly takesEngines?: boolean;
}

interface Left {
  readonly table: string;
  readonly text: string;
}

/** The steps from the known tables to the found ones, with column metadata. `found` must not be `undeclarable`. */
export function adopt(known: Database, found: Database, options: AdoptOptions = {}): Adoption {
  const all: Left[] = [];
  const tables = new Map<string, Table>();
  for (const [name, table] of found) tables.set(name, adoptable(name, table, known.get(name), all));
  // The metadata of columns is compared below, not by the diff.
  const plain = new Map([...known].map(([name, table]) => [name, withoutAnyMetadata(table)]));
  const made = diff(plain, tables, options);
  const reached = made.unsure.length + made.impossible.length === 0;
  const isNew = (table: string) => !known.has(table);
  const more = reached ? metadataSteps(tablesAfterSteps(known, made.steps), found, isNew, all, options) : [];
  return {
    ...made,
    steps: [...made.steps, ...more],
    left: all.map(({ text }) => text),
    partial: new Set(all.map(({ table }) => table)),
    tables,
  };
}

/**
 * The found table as steps can make it; what they can't make is added to `left`. Other writers' own indexes on a known
 * table are no drift.
 */
function adoptable(name: string, found: Table, known: Table | undefined, left: Left[]): Table {
  const { columns, indexes = {}, metadata } = found;
  const plain = columns.map((column) => withoutMetadata(asDeclared(column, known?.columns)));
  if (known !== undefined) {
    const ours = Object.entries(indexes).flatMap(([index, one]) => {
      const own = ownValue(known.indexes, index) ?? null;
      if (own === null) return [];
      if (one === null || isRecreatable(one) || sameIndex(own, one)) return [[index, one] as const];
      left.push({ table: name, text: describeIndex(name, index, one, stuckWords(one)) });
      return [[index, own] as const];
    });
    return { columns: plain, indexes: Object.fromEntries(ours), metadata: metadata && only(metadata, known.metadata) };
  }
  const kept = Object.entries(indexes).filter(([index, one]) => {
    const problem = one === null ? undefined : indexProblem(name, plain, index, one);
    if (problem !== undefined) left.push({ table: name, text: describeIndex(name, index, one!, problem) });
    return problem === undefined;
  });
  return { columns: plain, indexes: Object.fromEntries(kept), metadata };
}

/** The column as the migrations declare it, if they declare it as what it is stored as. */
function asDeclared(column: Column, known: readonly Column[] = []): Column {
  const own = known.find(({ name }) => name === column.name);
  if (own === undefined) return column;
  if (wasDeclaredAs(own.type, column.type)) return { ...column, type: own.type };
  const children = childColumns(column.type).map((child) => asDeclared(child, childColumns(own.type)));
  return { ...column, type: withChildColumns(column.type, children) };
}

/** The values of the known keys; null for one that is missing. */
function only(metadata: ColumnMetadata, known: ColumnMetadata = {}): ColumnMetadata {
  return Object.fromEntries(Object.keys(known).map((key) => [key, ownValue(metadata, key) ?? null]));
}

function describeIndex(table: string, name: string, index: FoundIndex, problem: string): string {
  return `index ${name} on ${table}.${index.path} (${formatIndex(index)}), ${problem}`;
}

function stuckWords({ stuck }: FoundIndex): string {
  return `which can't be recreated: ${stuck}`;
}

/** Why no step can make the index; undefined if one can. */
function indexProblem(table: string, columns: readonly Column[], name: string, index: FoundIndex): string | undefined {
  if (!isRecreatable(index)) return stuckWords(index);
  const { path, ...type } = index;
  const { error } = indexType.safeParse(type);
  if (error !== undefined) {
    const { path: place, message } = error.issues[0]!;
    return `which no builder makes: ${place.slice(1).join(".") || "its parameters"} ${message}`;
  }
  return refusalOf(new Map([[table, { columns }]]), { kind: "createIndex", table, path, type, name });
}

function withoutAnyMetadata(table: Table): Table {
  return { ...table, columns: table.columns.map(withoutMetadata) };
}

/** The tables after these steps. Throws a MigrateError if a step can't work. */
export function tablesAfterSteps(known: Database, steps: readonly Step[]): Map<string, Table> {
  return applyActions(new Map(known), steps.flatMap(compileStep));
}

/** For tables that are not new, only the keys that migrations have set: other writers may set more. */
function metadataSteps(
  known: Map<string, Table>,
  found: Database,
  isNew: (table: string) => boolean,
  left: Left[],
  { takesEngines = false }: AdoptOptions,
): readonly Step[] {
  // Why a key is left out: it means something to the engine itself, such as the key of a primary key.
  const reasonOf = (key: string, value: string | null): string | undefined => {
    const reserved = reservedProblem(key, value);
    if (reserved !== undefined) return `: ${reserved}`;
    const isOut = !takesEngines && key.startsWith("lance-schema:");
    return isOut ? ", which the engine never undoes, so that down could not" : undefined;
  };
  return [...found].flatMap(([table, { columns }]) =>
    columnsWithin(columns).flatMap(({ path, column }): readonly Step[] => {
      const place = `${table}.${formatPath(path)}`;
      const now = ownMetadata(column);
      const before = ownMetadata(findColumn(known.get(table)!.columns, path));
      const gone = Object.keys(before).filter((key) => ownValue(now, key) === undefined);
      const isStated = (key: string) => key === extensionKey && extensionName(column.type) !== undefined;
      const changed = [...Object.entries(now), ...gone.map((key) => [key, null] as const)].filter(([key, value]) => {
        const was = ownValue(before, key) ?? null;
        if (value === was || isStated(key) || !(isNew(table) || Object.hasOwn(before, key))) return false;
        const reason = reasonOf(key, value ?? was);
        if (reason !== undefined && value !== null) left.push({ table, text: `${key} of ${place}${reason}` });
        return reason === undefined;
      });
      if (changed.length === 0) return [];
      const step: Step = { kind: "setMetadata", table, path: formatPath(path), metadata: Object.fromEntries(changed) };
      const problem = refusalOf(known, step);
      if (problem === undefined) return [step];
      left.push({ table, text: `metadata of ${place}: ${problem}` });
      return [];
    }),
  );
}

function refusalOf(database: Database, step: Step): string | undefined {
  return problemIn(() => tablesAfterSteps(database, [step]))?.message;
}

type ColumnMetadata = Readonly<Record<string, string | null>>;

function ownMetadata(column: Column | undefined): ColumnMetadata {
  return column?.metadata ?? {};
}

/** All reasons why steps can't declare these tables. */
export function undeclarable(found: Database): readonly string[] {
  return [...found].flatMap(([table, { columns }]) => {
    const problem = tableNameProblem(table);
    return [
      ...(problem === undefined ? [] : [`table ${table}: its name ${problem}`]),
      ...(columns[0]?.computed === undefined
        ? []
        : [`table ${table} begins with a computed column, ${columns[0].name}`]),
      ...inColumns(table, columns, []),
    ];
  });
}

function inColumns(table: string, columns: readonly Column[], parent: Path): readonly string[] {
  return columns.flatMap((column, index) => {
    const path = [...parent, column.name];
    const place = `column ${formatPath(path)} of table ${table}`;
    const twin = twinOf(columns, index);
    const problem =
      columnNameProblem(column.name) ??
      (twin === undefined ? undefined : `differs from ${twin.name} only in capital letters`);
    if (problem !== undefined) return [`${place}: its name ${problem}`];
    return inType(table, column, path, place);
  });
}

function inType(table: string, column: Column, path: Path, place: string): readonly string[] {
  const { type } = column;
  if (column.computed === undefined && isComputed(column))
    return [`${place} is computed by something else than SQL, which no step declares`];
  if (type.kind === "unknown") return [`${place} is of the type ${type.name}, which no builder makes`];
  if (type.kind === "dictionary" && type.value.kind === "unknown")
    return [`${place} is of the type ${formatType(type)}, which no builder makes`];
  if (type.kind === "struct") return inColumns(table, type.fields, path);
  if (type.kind === "list" || type.kind === "largeList" || type.kind === "fixedSizeList") {
    const { item } = type;
    if (item.name !== itemName)
      return [
        `${place} holds a ${formatType(type)} whose items are called ${item.name}, where the builders make ${itemName}`,
      ];
    const inside = inType(table, item, [...path, item.name], place);
    if (inside.length > 0) return inside;
  }
  const { error } = columnShape.safeParse(withoutMetadata(column));
  return error === undefined
    ? []
    : [`${place} is of the type ${formatType(type)}, which no builder makes: it ${error.issues[0]!.message}`];
}

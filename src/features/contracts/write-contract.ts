/** Writes the contract of a release from the tables that its application was written for. Pure. */
import { formatPath, parsePath } from "../../schema/path.ts";
import { findColumn, type Database, type Table } from "../../schema/table.ts";
import type { Column } from "../../schema/data-type.ts";
import { contractType, type ContractDocument, type TableDocument } from "./check/contract.ts";

export interface WrittenContract {
  readonly document: ContractDocument;
  /** Tables and columns that the contract had and that are gone. */
  readonly gone: readonly string[];
  /** Tables and columns that it leaves out, as it did before. */
  readonly left: readonly string[];
}

/** `before`: the contract so far, which people may have narrowed; the new one has no more columns and tables then. */
export function writeContract(
  named: Omit<ContractDocument, "format" | "tables">,
  database: Database,
  before?: ContractDocument,
): WrittenContract {
  const whole = [...database].toSorted(([one], [other]) => (one < other ? -1 : 1));
  if (before === undefined) return { document: documentOf(named, whole.map(withContract)), gone: [], left: [] };
  const known = Object.entries(before.tables);
  const kept = known.flatMap(([name, table]) => {
    const now = database.get(name);
    return now === undefined ? [] : [{ name, now, ...narrowed(name, table, now) }];
  });
  const left = [
    ...whole.map(([name]) => name).filter((name) => !Object.hasOwn(before.tables, name)),
    ...kept.flatMap((one) => one.left),
  ];
  const gone = [
    ...known.map(([name]) => name).filter((name) => !database.has(name)),
    ...kept.flatMap((one) => one.gone),
  ];
  const document = documentOf(
    named,
    kept.map(({ name, table }) => [name, table]),
  );
  return { document, gone, left };
}

function documentOf(
  named: Omit<ContractDocument, "format" | "tables">,
  tables: readonly (readonly [string, TableDocument])[],
): ContractDocument {
  const { $schema, ...names } = named;
  return { ...($schema !== undefined && { $schema }), format: 1, ...names, tables: Object.fromEntries(tables) };
}

function withContract([name, table]: readonly [string, Table]): readonly [string, TableDocument] {
  return [name, contractOf(table)];
}

/** The contract of an application that reads and writes all columns of a table. Computed columns it only reads. */
export function contractOf({ columns }: Table): Required<TableDocument> {
  const types = (some: readonly Column[]) =>
    Object.fromEntries(some.map((column) => [formatPath([column.name]), contractType(column)]));
  const writes = types(columns.filter(({ computed }) => computed === undefined));
  return { reads: types(columns), writes, appends: true };
}

/** The same columns with the types that they have now. */
function narrowed(name: string, { reads, writes, appends }: TableDocument, now: Table) {
  const gone = new Set<string>();
  const update = (types: TableDocument["reads"]) =>
    types &&
    Object.fromEntries(
      Object.entries(types).flatMap(([path, type]) => {
        const column = findColumn(now.columns, parsePath(path));
        if (column === undefined) gone.add(`${name}.${path}`);
        return column === undefined ? [] : [[path, isAny(type) ? type : contractType(column)]];
      }),
    );
  const table: TableDocument = { reads: update(reads), writes: update(writes), appends };
  const used = new Set(Object.keys({ ...reads, ...writes }).map((path) => parsePath(path)[0]!));
  const left = now.columns.filter((column) => !used.has(column.name)).map((column) => `${name}.${column.name}`);
  return { table, gone: [...gone], left };
}

function isAny(type: string): boolean {
  return type.trim().toLowerCase().startsWith("any");
}

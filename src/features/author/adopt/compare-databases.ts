/** How the tables of two databases differ. Pure. */
import { formatColumn, sameColumn, type Column } from "../../../schema/data-type.ts";
import { withoutMetadata } from "../../../schema/metadata.ts";
import { formatIndex, sameIndex, type FoundIndex } from "../../../schema/table-index.ts";
import { differences, type Database, type Table } from "../../../schema/table.ts";

/** What one database has otherwise than the other, as text. A side that lacks it is absent. */
export interface DatabaseDifference {
  readonly table: string;
  readonly what: "table" | "column" | "order" | "index" | "metadata";
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** The metadata of columns is not compared, and neither are parameters of indexes but their distance. */
export function compareDatabases(from: Database, to: Database): readonly DatabaseDifference[] {
  return namesOf(from, to)
    .toSorted()
    .flatMap((table) => {
      const [one, other] = [from.get(table), to.get(table)];
      if (one !== undefined && other !== undefined) return compareTables(one, other).map((is) => ({ table, ...is }));
      return [{ table, what: "table", from: one && columnNames(one), to: other && columnNames(other) }];
    });
}

type Found = Omit<DatabaseDifference, "table">;

function compareTables(one: Table, other: Table): readonly Found[] {
  const columns = compareColumns(one.columns, other.columns);
  const [from, to] = [columnNames(one), columnNames(other)];
  const isReordered = from !== to && columns.every((is) => is.from !== undefined && is.to !== undefined);
  return [
    ...columns,
    ...(isReordered ? [{ what: "order" as const, from, to }] : []),
    ...compareIndexes(one, other),
    ...compareMetadata(one, other),
  ];
}

function compareColumns(ones: readonly Column[], others: readonly Column[]): readonly Found[] {
  const [from, to] = [ones, others].map((columns) => new Map(columns.map((one) => [one.name, withoutMetadata(one)])));
  return namesOf(from!, to!).flatMap((name) => {
    const [one, other] = [from!.get(name), to!.get(name)];
    const texts = { from: one && formatColumn(one), to: other && formatColumn(other) };
    if (one === undefined || other === undefined) return [{ what: "column", ...texts }];
    if (sameColumn(one, other) || sameColumn(other, one)) return [];
    // The name of what is inside a list is no part of its type as text.
    const inside =
      texts.from === texts.to ? ` (${differences({ columns: [other] }, { columns: [one] }).join(", ")})` : "";
    return [{ what: "column", from: `${texts.from}${inside}`, to: texts.to }];
  });
}

function compareIndexes(one: Table, other: Table): readonly Found[] {
  const [from, to] = [one, other].map(({ indexes = {} }) => new Map(Object.entries(indexes)));
  return namesOf(from!, to!).flatMap((name) => {
    const [was, is] = [from!.get(name) ?? null, to!.get(name) ?? null];
    if (sameIndex(was, is) && haveSameDistance(was, is)) return [];
    return [{ what: "index", from: indexText(name, was), to: indexText(name, is) }];
  });
}

/** Of indexes of one kind, if both state it. */
function haveSameDistance(one: FoundIndex | null, other: FoundIndex | null): boolean {
  const [from, to] = [one, other].map((index) => index?.options["distanceType"]);
  return from === undefined || to === undefined || from === to;
}

function indexText(name: string, index: FoundIndex | null): string | undefined {
  return index === null ? undefined : `${name} on ${index.path}: ${formatIndex(index)}`;
}

/** None if it is unknown of either: migrations need not state it. */
function compareMetadata(one: Table, other: Table): readonly Found[] {
  if (one.metadata === undefined || other.metadata === undefined) return [];
  const [from, to] = [one.metadata, other.metadata].map((metadata) => new Map(Object.entries(metadata)));
  return namesOf(from!, to!).flatMap((key) => {
    const text = (value: string | null | undefined) => (value == null ? undefined : `${key}=${JSON.stringify(value)}`);
    const [was, is] = [text(from!.get(key)), text(to!.get(key))];
    return was === is ? [] : [{ what: "metadata", from: was, to: is }];
  });
}

function columnNames({ columns }: Table): string {
  return columns.map(({ name }) => name).join(", ");
}

/** The names in either, each once. */
function namesOf(from: ReadonlyMap<string, unknown>, to: ReadonlyMap<string, unknown>): readonly string[] {
  return [...new Set([...from.keys(), ...to.keys()])];
}

/** Tables as texts that are equal when the tables are: as they look, and with what led to that. */
import { canonicalJson } from "../../src/migrations/checksum.ts";
import { withoutMark } from "./target/application-metadata.ts";
import type { MemoryTable, MemoryTables } from "./target/memory-table.ts";
import { isLedger } from "./scenario.ts";

/** The texts are made when they are asked for: of most tables nobody asks. */
export interface TablesText {
  schema(): string;
  effects(): string;
  /** The same tables without indexes of these names. */
  without(indexes: ReadonlySet<string>): TablesText;
}

type Named = readonly (readonly [name: string, table: MemoryTable])[];

/** All tables but the ledger's, as they are now. */
export function textOf(tables: MemoryTables): TablesText {
  const names = tables.names().filter((name) => !isLedger(name));
  return textOfNamed(names.toSorted().map((name) => [name, tables.get(name)!]));
}

function textOfNamed(named: Named): TablesText {
  const lines = (text: (one: Named[number]) => string) => named.map(text).join("\n");
  const schema = () => lines(([name, table]) => `${name} ${schemaOf(table)}`);
  return {
    schema,
    effects: () => `${schema()}\n${lines(([, table]) => effectsOf(table))}`,
    without: (indexes) =>
      indexes.size === 0
        ? textOfNamed(named)
        : textOfNamed(named.map(([name, one]) => [name, withoutIndexes(one, indexes)])),
  };
}

function withoutIndexes(table: MemoryTable, names: ReadonlySet<string>): MemoryTable {
  return { ...table, indexes: Object.fromEntries(Object.entries(table.indexes).filter(([name]) => !names.has(name))) };
}

const schemaOf = once(({ columns, indexes }) => canonicalJson({ columns: columns.map(withoutMark), indexes }));
const effectsOf = once(({ effects }) => JSON.stringify([...effects].toSorted()));

/** A table in memory never changes. */
function once(text: (table: MemoryTable) => string): (table: MemoryTable) => string {
  const known = new WeakMap<MemoryTable, string>();
  return (table) => {
    const found = known.get(table);
    if (found !== undefined) return found;
    const made = text(table);
    known.set(table, made);
    return made;
  };
}

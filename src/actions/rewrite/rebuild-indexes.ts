/** Restores what a rewrite of columns loses: the indexes on them and their metadata. */
import type { Action, ActionKind } from "../model/action.ts";
import { MigrateError } from "../../errors/migrate-error.ts";
import { formatType } from "../../schema/data-type.ts";
import { knownMetadata } from "../../schema/metadata.ts";
import { parsePath } from "../../schema/path.ts";
import { withoutEngines } from "../../schema/reserved-metadata.ts";
import { findColumn, type Table } from "../../schema/table.ts";
import type { Risk } from "../model/risk.ts";
import { trainingRisk } from "./training-risk.ts";
import { indexProblem, isRecreatable, type FoundIndex, type TableIndex } from "../../schema/table-index.ts";

/**
 * The indexes on these columns or inside them, sorted by name: their order must be the same whether it is planned from
 * migrations alone or from a snapshot.
 */
export function indexesOn(table: Table, columns: ReadonlySet<string>): readonly (readonly [string, FoundIndex])[] {
  const on = Object.entries(table.indexes ?? {}).flatMap(([name, index]) =>
    index !== null && columns.has(parsePath(index.path)[0]!) ? [[name, index] as const] : [],
  );
  return on.toSorted(([one], [other]) => (one < other ? -1 : 1));
}

/** Refuses a table on which these indexes can't be recreated. */
export function checkIndexes(table: string, after: Table, indexes: ReturnType<typeof indexesOn>): void {
  for (const [name] of indexes) {
    const index = recreatable(table, name, after.indexes![name]!);
    const column = findColumn(after.columns, parsePath(index.path));
    const reason = column && indexProblem(index, column.type);
    if (column !== undefined && reason === undefined) continue;
    const words =
      column === undefined ? "of which nothing is left" : `as ${formatType(column.type)}: ${index.kind} ${reason}`;
    throw new MigrateError("ERR_INDEX", {
      table,
      name,
      problem: `can't be on ${index.path} ${words}; drop it in a step before`,
    });
  }
}

/** Refuses an index that can't be recreated, or only as a different one. */
function recreatable(table: string, name: string, index: FoundIndex): TableIndex {
  if (isRecreatable(index)) return index;
  const wayOut = "drop it in a step before, and recreate it afterwards with the client that made it";
  const problem = `can't be recreated when its column ${index.path} has been rewritten: ${index.stuck}; ${wayOut}`;
  throw new MigrateError("ERR_INDEX", { table, name, problem });
}

/** The risks that an index on these columns can't be trained again after the columns have been rewritten. */
export function indexRisks(
  table: string,
  before: Table,
  columns: ReadonlySet<string>,
  able: (kind: ActionKind) => boolean,
): readonly Risk[] {
  return indexesOn(before, columns).flatMap(([name, index]) =>
    isRecreatable(index) ? trainingRisk({ table, name, index }, before, able) : [],
  );
}

export function dropIndexes(table: string, indexes: ReturnType<typeof indexesOn>): readonly Action[] {
  return indexes.map(([name]): Action => ({ kind: "dropIndex", table, name }));
}

export function createIndexes(table: string, indexes: ReturnType<typeof indexesOn>): readonly Action[] {
  return indexes.map(([name, index]): Action => {
    return { kind: "createIndex", table, name, index: recreatable(table, name, index) };
  });
}

/**
 * Sets the known metadata of these columns, and of the columns inside them, again. Not the keys by which the engine reads
 * the files, which it sets itself when it writes them.
 */
export function putBackMetadata(table: string, wanted: Table, columns: ReadonlySet<string>): readonly Action[] {
  const updates = knownMetadata(wanted.columns.filter(({ name }) => columns.has(name))).flatMap(([path, known]) => {
    const metadata = withoutEngines(known);
    return Object.keys(metadata).length === 0 ? [] : [{ path, metadata }];
  });
  return updates.length === 0 ? [] : [{ kind: "setMetadata", table, updates }];
}

/** The risk that an index can't be created yet, because its table holds too few vectors or no value for it. */
import { count } from "../../errors/migrate-error.ts";
import { findColumn, type Table } from "../../schema/table.ts";
import { valueWord, vectorsNeeded, waitsForValues, type TableIndex } from "../../schema/table-index.ts";
import { parsePath } from "../../schema/path.ts";
import type { ActionKind } from "../model/action.ts";
import type { Risk } from "../model/risk.ts";

export interface TrainedIndex {
  readonly table: string;
  readonly name: string;
  readonly index: TableIndex;
  /** A column that holds a value in every row that gets a vector; that of the index when absent. */
  readonly counted?: string | undefined;
}

/** `before`: the table before the action. `able`: the kinds of calls that the target supports. */
export function trainingRisk(
  { table, name, index, counted = index.path }: TrainedIndex,
  before: Table,
  able: (kind: ActionKind) => boolean,
): readonly Risk[] {
  if (!waitsForValues(index)) return [];
  const needed = vectorsNeeded(index);
  const isList = findColumn(before.columns, parsePath(counted))?.type.kind === "list";
  // A single row with a list may hold enough.
  const blocker = { kind: "vectors", table, path: counted, least: isList ? 1 : needed } as const;
  const few = `fewer than ${count(needed, valueWord(index))} in ${table}.${index.path}`;
  if (!able("setMetadata")) return [{ kind: "failure", text: `${few} would stop this`, blocker }];
  return [
    {
      kind: "deferral",
      text: `${few} would defer index ${name}: migrate up builds it once there are enough`,
      blocker,
    },
  ];
}

import { MigrateError } from "../../../errors/migrate-error.ts";
import { conflict } from "../../model/conflict.ts";
import type { Action, ConvertColumnAction } from "../../model/action.ts";
import { checkNotComputed, checkNotRead, declareAgain } from "../../rewrite/computed-columns.ts";
import { checkFilled, checkRead } from "../../rewrite/extension-columns.ts";
import { formatType } from "../../../schema/data-type.ts";
import { withMetadataOf } from "../../../schema/metadata.ts";
import { madeName } from "../../../schema/names.ts";
import { parsePath } from "../../../schema/path.ts";
import { findColumn, requireColumn, type Table } from "../../../schema/table.ts";
import { isNull, lossOfReplacing, risksOfExpression, type Risk } from "../../model/risk.ts";
import { isVectorIndex } from "../../../schema/table-index.ts";
import { checkMakeable } from "./add-columns.ts";
import { guardColumn, guardOff, guardOnByHiding } from "../../rewrite/append-guard.ts";
import type { ActionModel } from "../../model/action-model.ts";
import { checkIndexes, createIndexes, indexesOn, indexRisks, putBackMetadata } from "../../rewrite/rebuild-indexes.ts";

export const convertColumn: ActionModel<ConvertColumnAction> = {
  kind: "convertColumn",
  after: (before, { table, path, type, using }) => {
    const at = parsePath(path);
    const column = requireColumn(table, before.columns, at.slice(0, 1));
    checkNotRead(table, before.columns, at);
    checkNotComputed(table, before.columns, at, declareAgain);
    if (at.length > 1)
      throw conflict(
        table,
        `\`using\` recreates whole columns; give ${column.name} as a whole, with all its fields: using: "named_struct('…', …)"`,
      );
    if (type.kind === "null")
      throw conflict(table, `a column of type null holds no values; drop ${column.name} and add it again`);
    checkFilled(table, column.name, type);
    checkRead(table, before.columns, using);
    checkMakeable(table, column.name, type);
    const others = before.columns.filter((one) => one !== column);
    const after = { ...before, columns: [...others, withMetadataOf(column, { ...column, type })] };
    const indexes = indexesOn(before, new Set([column.name]));
    checkIndexes(table, after, indexes);
    return after;
  },
  needs: ["addColumns", "dropColumns", "alterColumns"],
  rewrites: ({ path }) => new Set(parsePath(path).slice(0, 1)),
  commits: (action, before, able) => {
    const { table, path, type, using } = action;
    const [untrained] = able("setMetadata") ? [] : untrainedIndexes(action, before);
    if (untrained !== undefined)
      throw new MigrateError("ERR_INDEX", {
        table,
        name: untrained,
        problem: `can't be made again on ${path}, which is all null then; drop it in a step before, and create it when the column has values`,
      });
    const after = convertColumn.after(before, action);
    const [name] = parsePath(path);
    const columns = new Set([name!]);
    const column = findColumn(before.columns, [name!]);
    const made = { ...guardColumn, name: madeName, type, nullable: true, as: using };
    const both: Action = { kind: "dropColumns", table, paths: [madeName, guardColumn.name] };
    const strict: Action = { kind: "alterColumns", table, alterations: [{ path: madeName, nullable: false }] };
    // Computes the new values again if others have written to the table since they were computed.
    const refresh: Action = { kind: "updateRows", table, set: { [madeName]: using } };
    const rest: readonly Action[] = [
      { kind: "alterColumns", table, alterations: [{ path: madeName, rename: name! }] },
      ...putBackMetadata(table, after, columns),
      ...createIndexes(table, indexesOn(before, columns)),
    ];
    return [
      {
        action: { kind: "addColumns", table, columns: [guardColumn, made] },
        detour: [
          ...guardOnByHiding(table, columns, []),
          { action: { kind: "addColumns", table, columns: [made] }, undo: [guardOff(table)] },
        ],
      },
      ...(column?.nullable === false ? [{ action: strict, undo: [both] }] : []),
      { action: { kind: "dropColumns", table, paths: [path, guardColumn.name] }, undo: [both], refresh, loses: true },
      ...rest.map((action) => ({ action })),
    ];
  },
  invert: ({ table, path }) => ({ lost: `${table}.${path} is recreated, and its old values are dropped` }),
  gives: ({ path, using }) => [{ path: parsePath(path), sql: using }],
  describe: ({ table, path, type, using }) =>
    `recreate ${table}.${path} as ${formatType(type)} from ${using}, as the last column`,
  risks: (action, before, able) => {
    const { table, path, type, using } = action;
    const column = findColumn(before.columns, parsePath(path));
    return [
      ...(isNull(using)
        ? untrainedIndexes(action, before).map(nullRisk(action))
        : indexRisks(table, before, new Set(parsePath(path).slice(0, 1)), able)),
      ...(column === undefined ? [] : lossOfReplacing(`${table}.${path}`, column, type, using)),
      ...risksOfExpression(`${table}.${path}`, type, using, before),
      {
        kind: "writers",
        text: `appends by others are refused while ${table}.${path} is recreated, and an update of it at the very end may be lost`,
      },
    ];
  },
};

/** The vector indexes on a column that is all null afterwards. */
function untrainedIndexes({ path, using }: ConvertColumnAction, before: Table): readonly string[] {
  const indexes = isNull(using) ? indexesOn(before, new Set(parsePath(path).slice(0, 1))) : [];
  return indexes.flatMap(([name, index]) => (isVectorIndex(index) ? [name] : []));
}

function nullRisk({ table, path }: ConvertColumnAction): (index: string) => Risk {
  return (index) => ({
    kind: "deferral",
    text: `index ${index} is deferred, because ${table}.${path} is all null then: migrate up builds it once there are enough vectors`,
  });
}

import { conflict } from "../../model/conflict.ts";
import { nameOfCode } from "../../model/computation.ts";
import type { PopulateTableAction } from "../../model/action.ts";
import type { ActionModel } from "../../model/action-model.ts";
import { checkSources, keyRisk } from "../../rewrite/check-computation.ts";
import { populating } from "../../rewrite/populating.ts";
import { formatType, isInteger, isTextType } from "../../../schema/data-type.ts";
import { canHold } from "../../../schema/row-values.ts";
import { getTable, requireColumn, type Table } from "../../../schema/table.ts";

export const populateTable: ActionModel<PopulateTableAction> = {
  kind: "populateTable",
  changesRows: true,
  after: (before, action) => {
    checkPopulated(before, action);
    return before;
  },
  checkReads: (database, action) => {
    const { table, from, columns, key, source } = action;
    if (from === table) throw conflict(table, "its rows can't be computed from its own; use another table");
    const read = getTable(database, from);
    if (columns.includes(key))
      throw conflict(from, `${key} identifies rows, and the code gets it anyway; leave it out`);
    checkSources(read, { table: from, from: columns, key });
    const { type } = requireColumn(from, read.columns, [key]);
    const own = getTable(database, table).columns.find(({ name }) => name === source)!.type;
    if (isTextType(type) === isTextType(own)) return;
    throw conflict(
      table,
      `${source} is ${formatType(own)}, and can't hold ${from}.${key}, which is ${formatType(type)}`,
    );
  },
  invert: ({ table, source }) => ({ lost: `rows of ${table} were replaced where ${source} is not null` }),
  writes: () => ({ rows: undefined }),
  populates: populating,
  describe: ({ table, from, columns, with: code, version }) =>
    `compute rows of ${table} from ${from} (${columns.join(", ")}) with ${nameOfCode(code)}, version ${version}`,
  risks: ({ from, key }) => [keyRisk({ table: from, key })],
};

/** Throws ERR_ALTERATION_CONFLICT, ERR_COLUMN_MISSING. */
function checkPopulated({ columns }: Table, { table, source, mark }: PopulateTableAction): void {
  if (source === mark) throw conflict(table, `${source} can't hold both the source and the mark; use two columns`);
  const { type, computed } = requireColumn(table, columns, [source]);
  if (!isInteger(type) && !isTextType(type))
    throw conflict(table, `${source} is ${formatType(type)}, and must be a text or a whole number, as the key is`);
  const { type: markType, computed: markComputed } = requireColumn(table, columns, [mark]);
  if (markType.kind !== "utf8") throw conflict(table, `${mark} is ${formatType(markType)}, and must be utf8`);
  if ((computed ?? markComputed) !== undefined)
    throw conflict(table, `${source} and ${mark} are written by the step, so neither can be a computed column`);
  const stuck = columns.find((one) => !one.nullable && one.computed === undefined && !canHold(one.type));
  if (stuck !== undefined)
    throw conflict(
      table,
      `${stuck.name} is ${formatType(stuck.type)} and not null, whose values can't be given as JSON; make it nullable`,
    );
}

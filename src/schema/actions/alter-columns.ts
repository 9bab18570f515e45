import { alterColumns as alteredTable, describeAlteration, type Alteration } from "../alter.ts";
import { risksOfAlteration } from "../risk.ts";
import { getTable } from "../table.ts";
import { defineAction, type ActionOf } from "./model.ts";

export interface AlterColumnsAction extends ActionOf<"alterColumns"> {
  readonly alterations: readonly Alteration[];
}

export const alterColumns = defineAction<AlterColumnsAction>({
  kind: "alterColumns",
  after: (database, { table, alterations }) =>
    new Map([[table, alteredTable(table, getTable(database, table), alterations)]]),
  describe: ({ table, alterations }) => alterations.map((one) => describeAlteration(table, one)).join(", "),
  risks: ({ table, alterations }, before) => alterations.flatMap((one) => risksOfAlteration(table, before, one)),
});

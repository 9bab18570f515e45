import type { DropTableAction } from "../../model/action.ts";
import type { ActionModel } from "../../model/action-model.ts";

export const dropTable: ActionModel<DropTableAction> = {
  kind: "dropTable",
  after: (before) => before,
  nameAfter: () => undefined,
  invert: ({ table }) => ({ lost: `${table} is dropped with its rows and its versions`, isGone: true }),
  describe: ({ table }) => `drop table ${table}`,
  risks: ({ table }) => [
    { kind: "loss", text: `${table} is dropped with its rows`, blocker: { kind: "rows", table, own: 0 } },
  ],
};

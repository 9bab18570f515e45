import { z } from "zod";
import { valueSource } from "../schema/source.ts";
import { columnPath, defineStep, tableName } from "./step.ts";

/**
 * Renames a column or a nested field: metadata only. The new name is the last part alone, without the path.
 *
 * @example
 * renameColumn("documents", "source.fetched", "fetched_at")
 */
export const renameColumn = defineStep({
  kind: "renameColumn",
  fields: z.object({ table: tableName, path: columnPath, name: z.string("has to be the new name") }),
  build: (table: string, path: string, name: string) => ({ table, path, name }),
  compile: ({ table, path, name }) => [{ kind: "alterColumns", table, alterations: [{ path, rename: name }] }],
  source: ({ table, path, name }) => [table, path, name].map(valueSource),
  flags: [
    {
      name: "rename",
      describe: "rename a column",
      form: "TABLE.COLUMN:NAME",
      read(notation) {
        const column = notation.column();
        notation.expect(":");
        return { ...column, name: notation.name() };
      },
    },
  ],
});

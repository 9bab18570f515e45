/** The registry of step kinds: to add one to the loader and the public API, export it here. */
export { addColumn } from "./kinds/columns/add-column.ts";
export { addComputedColumn } from "./kinds/columns/add-computed-column.ts";
export { alterColumns } from "./kinds/columns/alter-columns.ts";
export { backfillColumn } from "./kinds/rows/backfill-column.ts";
export { createIndex } from "./kinds/tables/create-index.ts";
export { createTable } from "./kinds/tables/create-table.ts";
export { dropColumn } from "./kinds/columns/drop-column.ts";
export { dropIndex } from "./kinds/tables/drop-index.ts";
export { dropTable } from "./kinds/tables/drop-table.ts";
export { execute } from "./kinds/rows/execute.ts";
export { insertRows } from "./kinds/rows/insert-rows.ts";
export { refreshColumn } from "./kinds/columns/refresh-column.ts";
export { renameColumn } from "./kinds/columns/rename-column.ts";
export { renameTable } from "./kinds/tables/rename-table.ts";
export { retypeColumn } from "./kinds/columns/retype-column.ts";
export { setMetadata } from "./kinds/tables/set-metadata.ts";
export { setNullable } from "./kinds/columns/set-nullable.ts";

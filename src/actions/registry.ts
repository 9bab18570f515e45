/** The registry of action kinds: to add one, export its model here. */
export { addColumns } from "./kinds/columns/add-columns.ts";
export { addField } from "./kinds/columns/add-field.ts";
export { alterColumns } from "./kinds/columns/alter-columns.ts";
export { backfillColumn, fillColumn } from "./kinds/rows/backfill-column.ts";
export { convertColumn } from "./kinds/columns/convert-column.ts";
export { createIndex } from "./kinds/tables/create-index.ts";
export { createTable } from "./kinds/tables/create-table.ts";
export { deleteRows } from "./kinds/rows/delete-rows.ts";
export { dropColumns } from "./kinds/columns/drop-columns.ts";
export { dropIndex } from "./kinds/tables/drop-index.ts";
export { dropTable } from "./kinds/tables/drop-table.ts";
export { insertRows } from "./kinds/rows/insert-rows.ts";
export { putBackRows } from "./kinds/rows/reinsert-rows.ts";
export { refreshColumn } from "./kinds/columns/refresh-column.ts";
export { renameTable } from "./kinds/tables/rename-table.ts";
export { restoreTable } from "./kinds/tables/restore-table.ts";
export { setMetadata } from "./kinds/tables/set-metadata.ts";
export { updateRows } from "./kinds/rows/update-rows.ts";

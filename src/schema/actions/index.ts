/** The registry: the export of an action's model here is all that the plan needs. */
export { addColumns } from "./add-columns.ts";
export { addField } from "./add-field.ts";
export { alterColumns } from "./alter-columns.ts";
export { convertColumn } from "./convert-column.ts";
export { createIndex } from "./create-index.ts";
export { createTable } from "./create-table.ts";
export { deleteRows } from "./delete-rows.ts";
export { dropColumns } from "./drop-columns.ts";
export { dropIndex } from "./drop-index.ts";
export { dropTable } from "./drop-table.ts";
export { insertRows } from "./insert-rows.ts";
export { putBackRows } from "./put-back-rows.ts";
export { refreshColumn } from "./refresh-column.ts";
export { renameTable } from "./rename-table.ts";
export { restoreTable } from "./restore-table.ts";
export { setMetadata } from "./set-metadata.ts";
export { updateRows } from "./update-rows.ts";

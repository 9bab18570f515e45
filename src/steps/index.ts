/** The registry: the export of a step kind here is all that the loader, the fold and the public API need. */
export { addColumn } from "./add-column.ts";
export { addComputedColumn } from "./add-computed-column.ts";
export { alterColumns } from "./alter-columns.ts";
export { createIndex } from "./create-index.ts";
export { createTable } from "./create-table.ts";
export { dropColumn } from "./drop-column.ts";
export { dropIndex } from "./drop-index.ts";
export { dropTable } from "./drop-table.ts";
export { execute } from "./execute.ts";
export { insertRows } from "./insert-rows.ts";
export { refreshColumn } from "./refresh-column.ts";
export { renameColumn } from "./rename-column.ts";
export { renameTable } from "./rename-table.ts";
export { retypeColumn } from "./retype-column.ts";
export { setMetadata } from "./set-metadata.ts";
export { setNullable } from "./set-nullable.ts";

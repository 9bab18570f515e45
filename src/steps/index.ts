/** The registry: the export of a step kind here is all that the loader, the fold and the public API need. */
export { alterColumns } from "./alter-columns.ts";
export { createTable } from "./create-table.ts";
export { renameColumn } from "./rename-column.ts";
export { retypeColumn } from "./retype-column.ts";
export { setNullable } from "./set-nullable.ts";

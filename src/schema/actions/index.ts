/** The registry: the export of an action's model here is all that the plan needs. */
export { alterColumns } from "./alter-columns.ts";
export { createTable } from "./create-table.ts";

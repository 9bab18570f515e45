/** A project with a history of migrations that change their tables in turn, one step each. */
import { writeMigration, writeProject } from "./project.ts";

/** `stepOf`: the step of the nth change of a table. */
export function writeHistory(
  folder: string,
  history: { readonly migrations: number; readonly tables: number; readonly stepOf?: typeof renameOf },
  target?: object,
): void {
  const { migrations, tables, stepOf = stepOfAnyKind } = history;
  writeProject(folder, target && { target });
  for (let index = 0; index < migrations; index++)
    writeMigration(folder, index + 1, stepOf(`t${index % tables}`, Math.floor(index / tables)));
}

/** The first change creates the table, and the others rename a column, which every target supports. */
export function renameOf(table: string, change: number): string {
  return change === 0
    ? stepOfAnyKind(table, 0)
    : `m.renameColumn("${table}", "title${change === 1 ? "" : change - 1}", "title${change}")`;
}

/** The first change creates the table, and the others add, rename, widen and loosen columns in turn. */
function stepOfAnyKind(table: string, change: number): string {
  if (change === 0)
    return `m.createTable("${table}", { id: m.int64().notNull(), title: m.utf8().notNull(), embedding: m.vector(8) })`;
  const column = Math.floor((change - 1) / 4);
  switch ((change - 1) % 4) {
    case 0:
      return `m.addColumn("${table}", "n${column}", m.int32())`;
    case 1:
      return `m.renameColumn("${table}", "n${column}", "m${column}")`;
    case 2:
      return `m.retypeColumn("${table}", "m${column}", m.int64())`;
    default:
      return column === 0
        ? `m.setNullable("${table}", "title", true)`
        : `m.renameColumn("${table}", "m${column}", "k${column}")`;
  }
}

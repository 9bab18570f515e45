/** A project with a history of migrations that change their tables in turn, one step each. */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));
export const bin = join(root, "dist/bin.js");

/** Writes the project's files, except a configuration. `stepOf`: the step of the nth change of a table. */
export function writeProject(folder: string, migrations: number, tables: number, stepOf = stepOfAnyKind): void {
  for (const name of ["migrations", "node_modules"]) mkdirSync(join(folder, name), { recursive: true });
  symlinkSync(root, join(folder, "node_modules", "lance-migrate"));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }\n');
  for (let index = 0; index < migrations; index++) {
    const step = stepOf(`t${index % tables}`, Math.floor(index / tables));
    const [builder] = step.split("(");
    const types = ["int32", "int64", "utf8", "vector"].filter((type) => step.includes(`${type}(`));
    const text = `import { ${[builder, ...types].join(", ")} } from "lance-migrate";\n\nexport const up = [${step}];\n`;
    writeFileSync(join(folder, "migrations", `${String(index + 1).padStart(4, "0")}_${builder}.ts`), text);
  }
}

/** The first change creates the table, and the others rename a column, which every target supports. */
export function renameOf(table: string, change: number): string {
  return change === 0
    ? stepOfAnyKind(table, 0)
    : `renameColumn("${table}", "title${change === 1 ? "" : change - 1}", "title${change}")`;
}

/** The first change creates the table, and the others add, rename, widen and loosen columns in turn. */
function stepOfAnyKind(table: string, change: number): string {
  if (change === 0)
    return `createTable("${table}", { id: int64().notNull(), title: utf8().notNull(), embedding: vector(8) })`;
  const column = Math.floor((change - 1) / 4);
  switch ((change - 1) % 4) {
    case 0:
      return `addColumn("${table}", "n${column}", int32())`;
    case 1:
      return `renameColumn("${table}", "n${column}", "m${column}")`;
    case 2:
      return `retypeColumn("${table}", "m${column}", int64())`;
    default:
      return column === 0
        ? `setNullable("${table}", "title", true)`
        : `renameColumn("${table}", "m${column}", "k${column}")`;
  }
}

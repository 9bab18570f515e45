/** Lists the tables of a database's folder, without those that are symbolic links. */
import { readdirSync } from "node:fs";

const ending = ".lance";

/**
 * The names that the engine lists, in ascending order. The engine asks the system about each entry of the folder, and to
 * find the links among ten thousand tables takes half as long again.
 */
export function tableNamesIn(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.name.endsWith(ending) && entry.name !== ending && !entry.isSymbolicLink())
    .map(({ name }) => name.slice(0, -ending.length))
    .toSorted();
}

/** An object that is empty or ends too early, although it should hold the newest manifest of a table. */
import { remedyOfManifest, type DamagedFile } from "../folder/damaged-file.ts";

/** Whether the engine's error may be about an empty object. A store, or a proxy before it, may also have answered wrongly. */
export function mayBeEmptyObject(thrown: unknown): boolean {
  return /Invalid range \d+\.\.\d+ for object of size \d+ bytes|file size is too small/.test(String(thrown));
}

/** The newest manifest of a table in an object store, whose name is not known. */
export function damagedManifest(uri: string, table: string): DamagedFile {
  const path = `${uri}/${table}.lance/_versions/… (the newest there)`;
  return { table, path, problem: `seems to be empty or to end too early (${lookFirst})`, remedy: remedyOfManifest };
}

const lookFirst =
  "look at its size first: if it is not empty, the store has answered wrongly, and the command may work again";

/** Finds damaged files of tables: a machine that crashes may leave files that are empty or end too early. */
import { isError } from "../../checks/realm.ts";
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { dataFilesOf } from "../manifest/contents.ts";
import { newestManifest } from "../manifest/manifest.ts";
import { tableNamesIn } from "./list-tables.ts";

export interface DamagedFile {
  readonly table: string;
  readonly path: string;
  readonly problem: string;
  /** What can be done without a backup. */
  readonly remedy: string;
}

const damage =
  /Invalid range \d|failed to fill whole buffer|file size is too small|Panic in async function|Tail read position|not appear to be a Lance file/;

/** Whether the engine's error, or its cause, may be about a damaged file. It names none. */
export function mayBeDamage(thrown: unknown): boolean {
  return damage.test(String(thrown)) || (isError(thrown) && damage.test(String(thrown.cause)));
}

const verify = "run migrate verify, which compares it with the ledger";
/** What can be done about a damaged manifest without a backup. */
export const remedyOfManifest = `move the file away, which takes the table back to the version before, and ${verify}`;
const ofData = `restore an older version of the table with LanceDB's client, and ${verify}`;
const ofLedger = (ledger: string) =>
  `move the folder ${ledger}.lance out of the database's folder, and run migrate repair, which rebuilds the ledger from the tables`;

/**
 * A damaged file of the newest version of one of these tables; undefined if none is found. `ledger`: the name of the
 * ledger's table.
 */
export function damagedFile(
  folder: string,
  ledger: string | undefined,
  tables: Iterable<string> = tableNamesIn(folder),
): DamagedFile | undefined {
  for (const table of tables) {
    const manifest = newestManifest({ folder, table });
    if (manifest === undefined) continue;
    const problem = problemOf(manifest);
    if (problem !== undefined) return { table, path: manifest, problem, remedy: remedyOfManifest };
    const files = dataFilesOf({ folder, table });
    if (files === undefined) return { table, path: manifest, problem: "holds no manifest", remedy: remedyOfManifest };
    for (const file of files) {
      const path = join(folder, `${table}.lance`, "data", file);
      const problem = problemOf(path);
      if (problem !== undefined) return { table, path, problem, remedy: table === ledger ? ofLedger(table) : ofData };
    }
  }
  return undefined;
}

/** All these files end with the same four letters. A file that is missing may be in another folder, as that of a clone. */
function problemOf(path: string): string | undefined {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch {
    return undefined;
  }
  try {
    const { size } = fstatSync(file);
    if (size === 0) return "is empty";
    const end = Buffer.alloc(4);
    readSync(file, end, 0, 4, Math.max(0, size - 4));
    return end.toString("latin1") === "LANC" ? undefined : "has no end, so part of it is missing or overwritten";
  } finally {
    closeSync(file);
  }
}

/** The errors about damaged files of tables. */
import { existsSync } from "node:fs";
import { damagedFile, mayBeDamage } from "../../engine/folder/damaged-file.ts";
import type { DatabaseLocation } from "../../engine/location.ts";
import { damagedManifest, mayBeEmptyObject } from "../../engine/problem/empty-object.ts";
import { MigrateError } from "../../errors/migrate-error.ts";

/** `target`: its name. `ledger`: the name of the ledger's table, once it is known. */
export function damageIn({ folder, uri }: DatabaseLocation, target: string, ledger: () => string | undefined) {
  const damaged = (tables?: Iterable<string>, cause?: unknown): MigrateError | undefined => {
    const found = folder === undefined || !existsSync(folder) ? undefined : damagedFile(folder, ledger(), tables);
    return found && new MigrateError("ERR_DAMAGED", { target, ...found }, { cause });
  };
  return {
    /** The error about a damaged file of these tables, or of any; undefined if none is found. */
    damaged: (tables?: Iterable<string>) => damaged(tables),
    /** The same, if the engine's error may be due to it. */
    damageBehind: (cause: unknown) => (mayBeDamage(cause) ? damaged(undefined, cause) : undefined),
    /** The same, if the engine could not open the table. In an object store, the file is not known. */
    damageOf: (table: string, cause: unknown) =>
      folder === undefined && mayBeEmptyObject(cause)
        ? new MigrateError("ERR_DAMAGED", { target, ...damagedManifest(uri, table) }, { cause })
        : undefined,
  };
}

/** The errors about damaged files of the tables of a folder. */
import { existsSync } from "node:fs";
import { damagedFile, mayBeDamage } from "../../engine/folder/damaged-file.ts";
import { MigrateError } from "../../errors/migrate-error.ts";

/** `target`: its name. `ledger`: the name of the ledger's table, once it is known. */
export function damageIn(folder: string | undefined, target: string, ledger: () => string | undefined) {
  const damaged = (tables?: Iterable<string>, cause?: unknown): MigrateError | undefined => {
    const found = folder === undefined || !existsSync(folder) ? undefined : damagedFile(folder, ledger(), tables);
    return found && new MigrateError("ERR_DAMAGED", { target, ...found }, { cause });
  };
  return {
    /** The error about a damaged file of these tables, or of any; undefined if none is found. */
    damaged: (tables?: Iterable<string>) => damaged(tables),
    /** The same, if the engine's error may be due to it. */
    damageBehind: (cause: unknown) => (mayBeDamage(cause) ? damaged(undefined, cause) : undefined),
  };
}

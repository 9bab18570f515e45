/** Checks that each migration comes after the one that its `after` names. Pure. */
import { MigrateError } from "../../errors/migrate-error.ts";
import { formatVersion } from "../../migrations/file-name.ts";
import type { Migration } from "../../migrations/load.ts";

/** `migrations`: all of them, in ascending order of version. */
export function afterProblems(
  migrations: readonly Pick<Migration, "file" | "version" | "after">[],
): readonly MigrateError[] {
  return migrations.flatMap(({ file, after: says }, index) => {
    const before = migrations[index - 1];
    const is = formatVersion(before?.version ?? 0);
    if (says === undefined || says === is) return [];
    return [new MigrateError("ERR_FILE_AFTER", { file, says, is, before: before?.file })];
  });
}

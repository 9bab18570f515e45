import { statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileReason, MigrateError } from "../errors/migrate-error.ts";

/**
 * Adds the variables of the file .env beside the configuration to the environment, as `node --env-file` does: those that
 * are set already keep their values. Throws ERR_USAGE.
 */
export function readEnvFile(config: string | undefined): void {
  const file = join(config === undefined ? "." : dirname(config), ".env");
  try {
    // Virtual environments of Python are folders, some of that name.
    if (statSync(file, { throwIfNoEntry: false })?.isDirectory() !== false) return;
    process.loadEnvFile(file);
  } catch (cause) {
    throw new MigrateError("ERR_USAGE", { problem: `${file} can't be read: ${fileReason(cause)}` }, { cause });
  }
}

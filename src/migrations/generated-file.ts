/** Reads and writes the files that are made from the migrations: `lock.json`, and those of `migrate types`, `build`, `contract` and `report`. */
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { move } from "../engine/folder/move.ts";
import { fileReason, MigrateError } from "../errors/migrate-error.ts";

/** The errors for such a file that can't be read or written. */
type FileErrorCode =
  | "ERR_LOCK_FILE"
  | "ERR_TYPES_FILE"
  | "ERR_BUNDLE_FILE"
  | "ERR_CONTRACT_INVALID"
  | "ERR_REPORT_FILE";

/** The text of the file; undefined if it does not exist. Throws `code`. */
export function readGenerated(path: string, code: FileErrorCode): string | undefined {
  return orRefused(path, code, "read", () => (existsSync(path) ? readFileSync(path, "utf8") : undefined));
}

/** Replaces the file atomically, so that nobody reads half of it. Throws `code`. */
export function writeGenerated(path: string, text: string, code: FileErrorCode): void {
  const draft = join(dirname(path), `.${basename(path)}.${randomUUID().slice(0, 8)}`);
  orRefused(path, code, "written", () => {
    try {
      writeIntoFolder(draft, text, "wx");
      move(draft, path);
    } finally {
      rmSync(draft, { force: true });
    }
  });
}

/** Creates the folder of the file, too. */
export function writeIntoFolder(path: string, text: string, flag: "w" | "wx" = "w"): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, { flag });
}

function orRefused<Result>(path: string, code: FileErrorCode, done: "read" | "written", work: () => Result): Result {
  try {
    return work();
  } catch (cause) {
    const problem = `can't be ${done}: ${fileReason(cause)}`;
    throw new MigrateError(code, { file: relative(process.cwd(), path), problem }, { cause });
  }
}

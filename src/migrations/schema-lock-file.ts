/** Reads and writes the file `lock.json` in the migrations folder. */
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileReason, MigrateError } from "../errors/migrate-error.ts";
import { lockName } from "./schema-lock.ts";

/** The text of the file; undefined if it does not exist. Throws ERR_LOCK_FILE. */
export function readLock(folder: string): string | undefined {
  const path = join(folder, lockName);
  return existsSync(path) ? orRefused(path, "read", () => readFileSync(path, "utf8")) : undefined;
}

/** Replaces the file atomically. Returns its path. Throws ERR_LOCK_FILE. */
export function writeLock(folder: string, text: string): string {
  const path = join(folder, lockName);
  const draft = join(folder, `.${lockName}.${randomUUID().slice(0, 8)}`);
  orRefused(path, "written", () => {
    try {
      writeFileSync(draft, text);
      renameSync(draft, path);
    } finally {
      rmSync(draft, { force: true });
    }
  });
  return path;
}

function orRefused<Result>(path: string, done: "read" | "written", work: () => Result): Result {
  try {
    return work();
  } catch (cause) {
    const problem = `can't be ${done}: ${fileReason(cause)}`;
    throw new MigrateError("ERR_LOCK_FILE", { file: relative(process.cwd(), path), problem }, { cause });
  }
}

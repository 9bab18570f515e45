/** The file `lock.json` beside the migrations. */
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { lockName } from "./lock.ts";

/** Its text; undefined where there is none. */
export function readLock(folder: string): string | undefined {
  const path = join(folder, lockName);
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}

/** As a whole. Gives its path. */
export function writeLock(folder: string, text: string): string {
  const path = join(folder, lockName);
  const draft = join(folder, `.${lockName}.${randomUUID().slice(0, 8)}`);
  writeFileSync(draft, text);
  renameSync(draft, path);
  return path;
}

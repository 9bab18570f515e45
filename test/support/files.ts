/** What is in a folder, so that it can be seen that nothing of it was touched. */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/** Every file with what is in it and when it was changed. */
export function filesOf(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .toSorted()
    .map((name) => {
      const path = join(folder, name);
      const stats = statSync(path);
      const hash = stats.isFile() ? createHash("sha256").update(readFileSync(path)).digest("hex") : "";
      return `${name} ${stats.mtimeMs} ${hash}`;
    });
}

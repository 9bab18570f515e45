/** What is in a folder, so that it can be seen that nothing of it was touched. */
import { createHash } from "node:crypto";
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
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

/** Everything in a folder, byte for byte: the same before and after, if nothing has touched it. Links are not followed. */
export function treeOf(folder: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .toSorted()
      .map((name) => [name, entryOf(join(folder, name))]),
  );
}

function entryOf(path: string): string {
  const found = lstatSync(path, { bigint: true });
  if (found.isSymbolicLink()) return `a link to ${readlinkSync(path)}`;
  if (found.isDirectory()) return `a folder of ${found.mtimeNs}`;
  const sum = createHash("sha256").update(readFileSync(path)).digest("hex");
  return `${found.size} bytes of ${found.mtimeNs}: ${sum}`;
}

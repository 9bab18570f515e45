/** Finds shallow clones, which read files of the tables that they were made of. */
import { realpathSync } from "node:fs";
import { join } from "node:path";
import { fromManifest, messagesIn, textIn } from "./manifest.ts";

/** The numbers of the manifest's base paths, and of the path in one. */
const [basePaths, path] = [18, 4];

/** Those of the tables `names` of a folder that read files of this table. A clone in another folder is not found. */
export function clonesOf(folder: string, names: readonly string[], table: string): readonly string[] {
  const own = realPath(join(folder, `${table}.lance`));
  return names.filter((name) => name !== table && basesOf(folder, name).some((base) => realPath(base) === own));
}

function basesOf(folder: string, table: string): readonly string[] {
  const bases = fromManifest({ folder, table }, (manifest) => messagesIn(manifest, basePaths));
  return bases?.flatMap((base) => textIn(base, path) ?? []) ?? [];
}

function realPath(at: string): string {
  try {
    return realpathSync(at);
  } catch {
    return at;
  }
}

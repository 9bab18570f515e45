/** Keeps which probes a version of the engine has failed on this machine. */
import { createHash, randomUUID } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { userFolder } from "../folder/user-folder.ts";
import { engineVersion } from "../package/find-engine.ts";
import { probes } from "./probes.ts";

/** The names of those that failed; undefined if they have not run. */
export function knownFailures(): readonly string[] | undefined {
  try {
    const names: unknown = JSON.parse(readFileSync(fileOf(userFolder("probes")!), "utf8"));
    return Array.isArray(names) ? (names as readonly string[]) : undefined;
  } catch {
    return undefined; // there is no such file, or another program wrote it
  }
}

export function keepFailures(names: readonly string[]): void {
  try {
    const file = fileOf(userFolder("probes")!);
    const written = `${file}-${randomUUID()}`;
    writeFileSync(written, JSON.stringify(names));
    renameSync(written, file);
  } catch {
    // The folder can't be written: the probes run again next time.
  }
}

/** Other probes have other results. */
function fileOf(folder: string): string {
  const code = probes.map(({ name, holds }) => [name, String(holds)]);
  const hash = createHash("sha256").update(JSON.stringify(code)).digest("hex").slice(0, 16);
  return join(folder, `${engineVersion()}-${process.platform}-${process.arch}-${hash}.json`);
}

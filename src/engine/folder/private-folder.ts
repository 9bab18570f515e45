/**
 * The folder in a database's folder for what nobody else may see: tables that are being created or removed, and large
 * bodies of requests. No client looks for tables in it.
 */
import { lstatSync, mkdirSync, readdirSync, rmdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { checkLink } from "./symbolic-links.ts";

export const privateFolder = ".lance-migrate";

/** At most this many tries: another process that cleans up may remove the private folder meanwhile. */
const mostTries = 10;

/** Does something in the private folder, which is created if it does not exist. Throws ERR_SYMBOLIC_LINK. */
export function inPrivateFolder<Result>(folder: string, work: (path: string) => Result): Result {
  const path = join(folder, privateFolder);
  for (let tries = 1; ; tries++) {
    makeFolder(path);
    checkLink(folder, privateFolder);
    try {
      return work(path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT" || tries === mostTries) throw error;
    }
  }
}

/** Creates it unless it exists, but not the one around it: a database's folder that is missing may be mounted later. */
export function makeFolder(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/**
 * What the entries are, by the beginning of their names. The rest of a name is a UUID. `bodies` is the folder of one
 * service; older releases wrote single files, `body`.
 */
const beginnings = { creating: "", dropped: "dropped-", body: "body-", bodies: "bodies-" } as const;

export type EntryKind = keyof typeof beginnings;

export function entryName(kind: EntryKind, uuid: string): string {
  return beginnings[kind] + uuid;
}

const isUuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Removes entries that this tool has created, and then the private folder if it is empty. Anything else stays: entries
 * with other names, files in the place of folders, and links.
 */
export async function removeEntries(
  folder: string,
  isToRemove: (kind: EntryKind, changedAt: number, name: string) => boolean,
): Promise<void> {
  const path = join(folder, privateFolder);
  try {
    checkLink(folder, privateFolder);
    for (const name of readdirSync(path)) {
      const entry = join(path, name);
      const found = lstatSync(entry, { throwIfNoEntry: false });
      const kind = kindOf(name);
      const isOurs = kind !== undefined && (kind === "body" ? found?.isFile() : found?.isDirectory());
      if (isOurs === true && isToRemove(kind, found!.mtimeMs, name))
        await rm(entry, { recursive: true }).catch(() => undefined);
    }
    rmdirSync(path);
  } catch {
    // There is no private folder, it is not ours, or another process is using it.
  }
}

function kindOf(name: string): EntryKind | undefined {
  const uuid = name.slice(-36);
  if (!isUuid.test(uuid)) return undefined;
  return (Object.keys(beginnings) as EntryKind[]).find((kind) => entryName(kind, uuid) === name);
}

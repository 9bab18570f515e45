/**
 * The data folder: created and checked before the engine sees it, and recognised while the service runs. The engine
 * creates a folder that is missing, so a service whose folder was unmounted would serve an empty one in its place.
 */
import { randomUUID } from "node:crypto";
import { accessSync, constants, lstatSync, mkdirSync, rmdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { entryName, privateFolder } from "../../../engine/folder/private-folder.ts";
import { checkLink } from "../../../engine/folder/symbolic-links.ts";
import { MigrateError } from "../../../errors/migrate-error.ts";
import { refuse } from "./error-answer.ts";

/** Plain data, since workers get it too. */
export interface DataFolder {
  readonly path: string;
  /** The device and the inode. */
  readonly identity: string;
  /** The name of this service's folder in the private folder, for large bodies. */
  readonly bodies: string;
  /** The topmost folder that was created for it. */
  readonly created?: string | undefined;
}

/** Creates the folder if it does not exist. Throws ERR_SERVICE_DATA and ERR_SYMBOLIC_LINK. */
export function openDataFolder(path: string): DataFolder {
  const created = isThere(path) ? undefined : attempt(path, "created", () => mkdirSync(path, { recursive: true }));
  const identity = attempt(path, "read", () => identityOf(path));
  if (identity === undefined) throw problemWith(path, "is a file");
  attempt(path, "read and written", () => accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK));
  checkLink(path, privateFolder);
  return { path, identity, created, bodies: entryName("bodies", randomUUID()) };
}

/** Removes the folders that were created for it, as far as they are empty. */
export function removeCreated({ path, created }: DataFolder): void {
  if (created === undefined) return;
  try {
    for (let folder = path; ; folder = dirname(folder)) {
      rmdirSync(folder);
      if (folder === created) return;
    }
  } catch {
    // Something is in it.
  }
}

/** Throws a refusal unless it is the folder of the start. Called before anything is done in it. */
export function checkDataFolder({ path, identity }: DataFolder): void {
  let found: string | undefined;
  try {
    found = identityOf(path);
  } catch {
    // It is missing, or can't be looked at.
  }
  if (found !== identity)
    throw refuse(503, "unavailable", "the data folder of this service is missing, or another one is in its place");
}

/** Undefined for what is no folder. */
function identityOf(path: string): string | undefined {
  const found = statSync(path, { bigint: true });
  return found.isDirectory() ? `${found.dev}:${found.ino}` : undefined;
}

/** Whether something has this name, be it a link that leads nowhere. */
function isThere(path: string): boolean {
  return attempt(path, "read", () => lstatSync(path, { throwIfNoEntry: false })) !== undefined;
}

const problems: Readonly<Record<string, string>> = {
  ENOENT: "its path contains a symbolic link that leads nowhere",
  ENOTDIR: "a part of its path is a file",
  EEXIST: "a part of its path is a file",
  ELOOP: "its path contains symbolic links that lead to each other",
  EACCES: "this user is not allowed to",
  EPERM: "this user is not allowed to",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
  ENAMETOOLONG: "its path is too long",
};

function attempt<Result>(path: string, what: string, act: () => Result): Result {
  try {
    return act();
  } catch (cause) {
    const { code = "" } = cause as NodeJS.ErrnoException;
    throw problemWith(path, `can't be ${what}: ${problems[code] ?? code}`, cause);
  }
}

function problemWith(folder: string, problem: string, cause?: unknown) {
  return new MigrateError("ERR_SERVICE_DATA", { folder, problem }, { cause });
}

/** The location of an embedded database. */
import { homedir } from "node:os";
import { isAbsolute, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { firstLine } from "../errors/migrate-error.ts";
import type { NewTables } from "../schema/table-format.ts";

export interface DatabaseLocation {
  /**
   * The URI for the engine. Paths are absolute: the engine takes any URI that begins with the letters "db" for a remote
   * one.
   */
  readonly uri: string;
  /** The folder, if the database is one on this machine. */
  readonly folder?: string | undefined;
  readonly storageOptions?: Record<string, string> | undefined;
  /** How migrations create tables here. */
  readonly newTables?: NewTables | undefined;
}

/** What is wrong with a URI, as text; undefined if nothing is. `windows`: whether paths are those of Windows. */
export function uriProblem(uri: string, windows = process.platform === "win32"): string | undefined {
  if (uri.trim() === "") return "is empty";
  if (/^https?:/i.test(uri))
    return "is the address of a service; a target of kind lance takes a folder or an object store";
  if (/^db:\/\//i.test(uri))
    return "is an address of LanceDB Cloud; a target of kind lance takes a folder or an object store";
  if (uri.includes("\0")) return "holds a NUL character";
  const scheme = schemeOf(uri);
  if (scheme === "file" && !/^file:\/\/(localhost)?\//i.test(uri))
    return "must be a path behind file:// (file:///data/lance)";
  const bare = scheme === undefined ? /^([a-z][a-z0-9+.-]+):/i.exec(uri)?.[1] : undefined;
  // It would be a folder of the project with this name.
  if (bare !== undefined && schemes.has(bare.toLowerCase())) return `lacks // behind ${bare}: (${bare}://…)`;
  if (scheme !== undefined && !schemes.has(scheme)) return `has a scheme that the engine does not know (${scheme}:)`;
  if (scheme !== undefined)
    return queryProblem(uri, scheme) ?? (scheme === "file" ? fileProblem(uri, windows) : undefined);
  // It would be the name of a folder in the project.
  if (!windows && /^([a-z]:[/\\]|\\\\)/i.test(uri))
    return "is a path of Windows, and this is another system; write the path that the folder has here";
  if (fromHome.test(uri) && home() === "")
    return "begins with ~, and this user has no home folder; set HOME, or write the path in full";
  return undefined;
}

/** On Windows, a path behind file:// begins with a drive. */
function fileProblem(uri: string, windows: boolean): string | undefined {
  try {
    return fileURLToPath(uri, { windows }).includes("\0") ? "holds a NUL character" : undefined;
  } catch (error) {
    return `can't be read as a path (${firstLine(error)}); write the path without file://`;
  }
}

/** What follows ? or # is no part of the path for the engine, so tables and databases would share their files. */
function queryProblem(uri: string, scheme: string): string | undefined {
  const [found] = /[?#]/.exec(uri) ?? [];
  if (found === undefined || (scheme === "s3+ddb" && /^[^?#]*\?ddbTableName=[^?#]*$/.test(uri))) return undefined;
  const way =
    scheme === "file"
      ? `write ${encodeURIComponent(found)} for it, or the path without file://`
      : "use a path without it";
  return `holds ${found}, which ends the path; ${way}`;
}

const schemes: ReadonlySet<string> = new Set(["file", "s3", "s3+ddb", "gs", "az", "abfss", "oss", "hf"]);

/** One letter is a drive of Windows. */
function schemeOf(uri: string): string | undefined {
  return /^([a-z][a-z0-9+.-]+):\/\//i.exec(uri)?.[1]?.toLowerCase();
}

/** Relative paths start at the configuration's folder (`base`), and `~/` at the user's, as for the engine. */
export function locationOf(uri: string, base: string): DatabaseLocation {
  const scheme = schemeOf(uri);
  if (scheme === "file") return folderPlace(fileURLToPath(uri));
  if (scheme !== undefined) return { uri };
  const path = uri.replace(fromHome, home);
  return folderPlace(isAbsolute(path) ? path : resolve(base, path));
}

const fromHome = /^~(?=[/\\]|$)/;

/** Empty if there is none, as for a user whom only a container's number names. */
function home(): string {
  try {
    return homedir();
  } catch {
    return "";
  }
}

function folderPlace(folder: string): DatabaseLocation {
  return { uri: folder, folder };
}

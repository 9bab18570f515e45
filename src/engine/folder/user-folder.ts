/** Folders for what this tool can make again, kept between commands. */
import { lstatSync, mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A folder of this user; undefined if another user has taken its place. */
export function userFolder(name: string): string | undefined {
  // A container may run as a user that has no name. Windows has no numbers, and a temporary folder for each user.
  const uid = process.getuid?.() ?? -1;
  const folder = join(tmpdir(), `lance-migrate-${name}-${uid}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const found = lstatSync(folder);
  return found.isDirectory() && (uid === -1 || found.uid === uid) ? folder : undefined;
}

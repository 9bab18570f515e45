/** Who has mistyped an address sees it here. */
import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { similarName } from "../../schema/names.ts";
import { usualDatabase } from "../../session/usual-database.ts";

/** `place`: where the database is, if it has no tables yet. Nobody has typed the usual one, which is in the project. */
export function newDatabaseNotes(place: string | undefined): readonly string[] {
  if (place === undefined || (basename(place) === usualDatabase && existsSync(dirname(place)))) return [];
  const near = nearDatabase(place);
  const hint = near === undefined ? "" : `; ${near}, which is nearly the same, has tables`;
  // In an object store, nothing else shows it.
  const named = /\.lance\/?$/.test(place)
    ? "; the folder of a table has such a name, and the one above it is its database"
    : "";
  return [`note: ${place} has no tables yet; migrate up makes a new database there${hint}${named}`];
}

/** A folder beside it with nearly the same name that has tables, or undefined. The place itself may be there: a run makes it. */
export function nearDatabase(place: string): string | undefined {
  const [folder, own] = [dirname(place), basename(place)];
  const others = namesIn(folder).filter((name) => name !== own);
  const near = similarName(own, others);
  const isDatabase = near !== undefined && namesIn(join(folder, near)).some((name) => name.endsWith(".lance"));
  return isDatabase ? join(folder, near) : undefined;
}

/** None if the folder is not there, or can't be read. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

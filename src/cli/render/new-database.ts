/** Who has mistyped an address sees it here. */
import { existsSync } from "node:fs";
import { basename, dirname } from "node:path";
import { usualDatabase } from "../../session/usual-database.ts";

/** `place`: where the database is, if it has no tables yet. Nobody has typed the usual one, which is in the project. */
export function newDatabaseNotes(place: string | undefined): readonly string[] {
  if (place === undefined || (basename(place) === usualDatabase && existsSync(dirname(place)))) return [];
  return [`note: ${place} has no tables yet; migrate up makes a new database there`];
}

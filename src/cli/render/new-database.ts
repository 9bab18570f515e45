/** Who has mistyped an address sees it here. */
import { resolve } from "node:path";
import { usualDatabase } from "../../session/usual-database.ts";

/** `place`: where the database is, if it has no tables yet. Nobody has typed the usual one. */
export function newDatabaseNotes(place: string | undefined): readonly string[] {
  if (place === undefined || place === resolve(usualDatabase)) return [];
  return [`note: ${place} has no tables yet; migrate up makes a new database there`];
}

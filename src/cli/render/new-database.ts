/** Who has mistyped an address sees it here. */
import { usualDatabase } from "../../session/usual-database.ts";

/** `place`: where the database is, if it has no tables yet. Nobody has typed the usual name. */
export function newDatabaseNotes(place: string | undefined): readonly string[] {
  if (place === undefined || place.split(/[\\/]/).at(-1) === usualDatabase) return [];
  return [`note: ${place} has no tables yet, so this makes a new database`];
}

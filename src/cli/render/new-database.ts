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
  return [`note: ${place} has no tables yet; migrate up makes a new database there${hint}`];
}

/** A folder beside it with nearly the same name that has tables; undefined if the place itself is there, or no folder. */
export function nearDatabase(place: string): string | undefined {
  if (existsSync(place) || !existsSync(dirname(place))) return undefined;
  const folder = dirname(place);
  const others = readdirSync(folder, { withFileTypes: true }).filter((one) => one.isDirectory());
  const near = similarName(
    basename(place),
    others.map(({ name }) => name).filter((name) => hasTables(join(folder, name))),
  );
  return near === undefined ? undefined : join(folder, near);
}

function hasTables(folder: string): boolean {
  return readdirSync(folder).some((name) => name.endsWith(".lance"));
}

/** A history of schemas, from the databases themselves. */
import type { SchemaRevision } from "../../src/run/schema-history.ts";
import type { Database } from "../../src/schema/table.ts";

/** Versions from 1, each of which leads to the database at its place. */
export function revisionsOf(databases: readonly Database[]): readonly SchemaRevision[] {
  return databases.map((database, at) => {
    const gone = [...(databases[at - 1] ?? new Map<string, never>()).keys()].filter((name) => !database.has(name));
    const changed = new Map([...database, ...gone.map((name) => [name, undefined] as const)]);
    return { version: at + 1, name: "drawn", checksum: undefined, changed };
  });
}

/** What `lock.json` has to say of the migrations that there are. Touches no table. */
import { lockText, type LockEntry } from "../migrations/lock.ts";
import { isUnfinished } from "../migrations/load.ts";
import { compileMigration } from "../plan/compile.ts";
import { placed } from "../plan/fold.ts";
import { tablesAfter } from "../schema/action.ts";
import { change, type Table } from "../schema/table.ts";
import type { MigratorOptions } from "./migrator.ts";

/** The text of the file. A migration whose steps are yet to be written has no checksum. Throws what keeps the others from working. */
export async function lockOf({ migrations: source, target }: Pick<MigratorOptions, "migrations" | "target">) {
  const entries: LockEntry[] = [];
  const database = new Map<string, Table>();
  for (const file of source.list()) {
    const migration = await source.load(file).catch((error: unknown) => {
      if (isUnfinished(error)) return undefined;
      throw error;
    });
    entries.push({ version: file.version, name: file.name, checksum: migration?.checksum });
    if (migration === undefined) continue;
    for (const { place, action } of compileMigration(migration, target.capabilities))
      placed(place, () => change(database, tablesAfter(database, action)));
  }
  return lockText(entries, database);
}

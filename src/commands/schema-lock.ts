/** The content of `lock.json` for the existing migrations. Touches no table. */
import { lockText } from "../migrations/schema-lock.ts";
import { momentsOf } from "../run/schema-history.ts";
import type { MigratorOptions } from "../run/options.ts";

/** The text of the file. A migration without steps yet has no checksum in it. Throws if another one can't work. */
export async function lockOf(options: Pick<MigratorOptions, "migrations" | "target">): Promise<string> {
  const moments = await momentsOf(options);
  return lockText(moments, moments.at(-1)?.database ?? new Map());
}

/** What `lock.json` has to say of the migrations that there are. Touches no table. */
import { lockText } from "../migrations/schema-lock.ts";
import { momentsOf } from "../run/schema-history.ts";
import type { MigratorOptions } from "../run/options.ts";

/** The text of the file. A migration whose steps are yet to be written has no checksum. Throws what keeps the others from working. */
export async function lockOf(options: Pick<MigratorOptions, "migrations" | "target">): Promise<string> {
  const moments = await momentsOf(options);
  return lockText(moments, moments.at(-1)?.database ?? new Map());
}

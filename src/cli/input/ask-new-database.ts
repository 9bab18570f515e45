/** Asks before a new database is made beside one with nearly the same name: the address may be mistyped. */
import { existsSync } from "node:fs";
import { MigrateError } from "../../errors/migrate-error.ts";
import type { Context } from "../command/command.ts";
import { nearDatabase } from "../render/new-database.ts";
import { atTerminal, isYes } from "./prompt.ts";

/** Throws ERR_DATABASE_MISSING if the user does not want it. */
export async function askNewDatabase(
  { name, place }: { readonly name: string; readonly place: string },
  context: Pick<Context, "output" | "signal">,
): Promise<void> {
  const near = existsSync(place) ? undefined : nearDatabase(place);
  if (near === undefined) return;
  const question = `${place} is not there, and ${near} has tables; make a new database at ${place}? (yes, or Enter to make none) `;
  const isWanted = await atTerminal(context, ({ untilRight }) => untilRight(question, isYes));
  if (!isWanted) throw new MigrateError("ERR_DATABASE_MISSING", { target: name, place, near });
}

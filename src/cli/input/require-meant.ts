/** No new database is made without consent beside one with nearly the same name: the address may be mistyped. */
import { existsSync } from "node:fs";
import { MigrateError } from "../../errors/migrate-error.ts";
import type { MigratorOptions } from "../../run/run-context.ts";
import type { Context } from "../command/command.ts";
import { nearDatabase } from "../render/new-database.ts";
import { atTerminal, isYes } from "./prompt.ts";

/** `isAsked`: whether there is somebody to ask. Throws ERR_DATABASE_MISSING without consent. Who makes the folder consents. */
export async function requireMeant(
  { target: { name, place }, guards }: Pick<MigratorOptions, "guards" | "target">,
  context: Pick<Context, "output" | "signal">,
  isAsked: boolean,
): Promise<void> {
  const near = existsSync(place) ? undefined : nearDatabase(place);
  // Of several databases with numbers, each one is meant. The guard has its own error.
  if (guards?.mustExist === true || near === undefined || withoutDigits(near) === withoutDigits(place)) return;
  const question = `${place} is not there, and ${near} has tables; make a new database at ${place}? (yes, or Enter to make none) `;
  if (isAsked && (await atTerminal(context, ({ untilRight }) => untilRight(question, isYes)))) return;
  throw new MigrateError("ERR_DATABASE_MISSING", { target: name, place, near });
}

function withoutDigits(text: string): string {
  return text.replaceAll(/\d/g, "");
}

/** Whether a `down` may be refused, by what was promised before. Pure. */
import type { MigrateError } from "../../src/errors/migrate-error.ts";
import { acceptsLoss } from "../../src/migrations/acceptance.ts";
import type { DownChoice } from "../../src/commands/down.ts";
import type { Applied } from "./stages.ts";

/** In words what was promised and not kept; undefined where it may be refused. */
export function checkRefusal(error: MigrateError, back: readonly Applied[], choice: DownChoice): string | undefined {
  if (back.some((one) => one.isRecreatedSince)) return undefined;
  const classes = new Set(back.flatMap((one) => [...one.classes]));
  const says = `${[...classes].join(", ")} was promised, and it ends with ${error.code}: ${error.message}`;
  if (error.code === "ERR_IRREVERSIBLE") return classes.has("none") ? undefined : says;
  if (error.code !== "ERR_ROLLBACK_BLOCKED") return undefined;
  const isWritten = back.some((one) => one.isWrittenSince);
  if (!isWritten) return `nobody has written, and ${says}`;
  if (classes.has("checked") || classes.has("none")) return undefined;
  if (classes.has("restore")) return acceptsLoss(choice) ? says : undefined;
  return says;
}

/** Exit codes, as docs/cli.md documents them. */
import { isMigrateError, type MigrateError, type Outcome } from "../../errors/migrate-error.ts";

const codes = {
  pending: 3,
  failed: 1,
  usage: 2,
  refused: 4,
  locked: 5,
  unreachable: 6,
  interrupted: 130,
} satisfies Readonly<Record<Outcome | "pending", number>>;

export type EndingName = keyof typeof codes;

/** How a command ended that did not throw: well, if undefined. An error is one that is part of the result. */
export type CommandResult = EndingName | MigrateError | undefined;

export function endingCode(ending: CommandResult): number {
  if (ending === undefined) return 0;
  return typeof ending === "string" ? codes[ending] : exitCodeOf(ending);
}

export function exitCodeOf(error: unknown): number {
  return isMigrateError(error) ? codes[error.outcome] : codes.failed;
}

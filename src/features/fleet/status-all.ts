/** `migrate status` of all databases of a target, grouped by their histories. */
import { status, type StatusResult } from "../../commands/status.ts";
import { formatMigration } from "../../migrations/file-name.ts";
import { indexWords } from "../../run/deferral-text.ts";
import { onAllDatabases, type DatabasesChoice } from "./on-all-databases.ts";
import type { SessionOfSeveral } from "../../session/session.ts";
import type { CommandInput } from "../../cli/command/additions.ts";
import type { StatusFlags } from "../../cli/commands/status.ts";
import type { CommandResult } from "../../cli/command/exit-code.ts";
import { absenceWords, checkedStatus, statusDocument } from "../../cli/render/status.ts";
import { databasesReport } from "./databases-report.ts";

export async function statusOfAll(
  context: CommandInput,
  session: SessionOfSeveral,
  { canaries = 0, ...choice }: DatabasesChoice,
): Promise<CommandResult> {
  const { check, bundle } = context.flags as StatusFlags;
  const { target } = session;
  const checks = new Set<CommandResult>();
  const report = databasesReport<StatusResult>(
    context,
    (found) => historyWords(found, absenceWords(bundle, session.folder)),
    (found) => statusDocument(found, target),
  );
  const untried = await onAllDatabases(
    session,
    status,
    { ...choice, canaries },
    {
      begin: report.begin,
      end(one) {
        if ("result" in one) checks.add(checkedStatus(one.result));
        report.end(one);
      },
    },
  );
  const ending = report.finish(target, untried);
  if (ending !== undefined || check !== true) return ending;
  return checks.has("refused") ? "refused" : checks.has("pending") ? "pending" : undefined;
}

/** Databases with the same words have the same history, and the same problems. */
function historyWords(found: StatusResult, absence: string): string {
  const { applied, pending, reverting, missing, doubts, late, deferred, changed, problem } = found;
  const last = applied.at(-1);
  const begun = pending.filter(({ partial }) => partial !== undefined);
  return [
    `${applied.length} applied${last === undefined ? "" : ` (last ${formatMigration(last)})`}, ${pending.length} pending`,
    ...begun.map((one) => `${formatMigration(one)} is interrupted`),
    ...reverting.map((one) => `${formatMigration(one)} is being rolled back`),
    ...missing.map((one) => `${formatMigration(one)}: ${absence}`),
    ...doubts,
    ...(late.length === 0 ? [] : ["a call may have come late"]),
    ...(deferred.length === 0 ? [] : [`deferred: ${deferred.map(indexWords).join(", ")}`]),
    ...changed.map((one) => one.problem),
    ...(problem === undefined ? [] : [problem]),
  ].join("; ");
}

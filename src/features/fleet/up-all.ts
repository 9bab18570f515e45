/** `migrate up` on all databases of a target. */
import { up, type UpChoice, type UpResult } from "../../commands/up.ts";
import { count, MigrateError } from "../../errors/migrate-error.ts";
import type { RunEvent } from "../../run/events.ts";
import type { MigratorOptions } from "../../run/run-context.ts";
import { onAllDatabases, type DatabasesChoice } from "./on-all-databases.ts";
import type { SessionOfSeveral } from "../../session/session.ts";
import type { CommandInput } from "../../cli/command/additions.ts";
import type { CommandResult } from "../../cli/command/exit-code.ts";
import { indexWords } from "../../run/deferral-text.ts";
import { caughtUpWords, renderEvent } from "../../cli/render/events.ts";
import { databasesReport } from "./databases-report.ts";
import type * as apply from "../../cli/json/apply.ts";

/** Only --verbose shows them: many databases run at a time. */
const details: ReadonlySet<RunEvent["event"]> = new Set([
  "planned",
  "group",
  "started",
  "done",
  "recognised",
  "deferred",
]);

export async function upAll(
  context: CommandInput,
  session: SessionOfSeveral,
  choice: UpChoice,
  { budget, ...limits }: DatabasesChoice & Pick<MigratorOptions, "budget">,
): Promise<CommandResult> {
  const { output, underWay } = context;
  const { target } = session;
  // A saved plan is for the tables of one database.
  if (choice.plan !== undefined) throw new MigrateError("ERR_DATABASE_NEEDED", { target });
  // They are the same for all databases.
  let areContractsShown = false;
  const report = databasesReport<UpResult>(context, resultWords, ({ applied, total, deferred }) => ({
    applied,
    total,
    deferred,
  }));
  const untried = await onAllDatabases(session, (options) => up({ ...options, budget }, choice), limits, {
    ...report,
    underWay,
    emit(event, database) {
      output.data<typeof apply.up>({ database, ...event });
      if (event.event === "contracts") {
        if (!areContractsShown) renderEvent(event, output);
        areContractsShown = true;
      } else if (event.event === "caughtUp") output.progress(`${database}: ${caughtUpWords(event)}`);
      else if (output.verbose || !details.has(event.event))
        renderEvent(event, { ...output, progress: (line) => output.progress([`${database}: `, line].flat()) });
    },
  });
  return report.finish(target, untried);
}

function resultWords({ applied, total, deferred = [], hasSettled = false }: UpResult): string {
  const none = hasSettled ? "no migration was pending" : "nothing to do";
  const done = applied === 0 ? none : `${count(applied, "migration")} applied, ${total} in total`;
  return deferred.length === 0 ? done : `${done}; deferred: ${deferred.map(indexWords).join(", ")}`;
}

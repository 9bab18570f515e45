import { interruptedEarly } from "../../errors/migrate-error.ts";
import type { AllDatabases, CommandInput, ReadDatabase } from "../../cli/command/additions.ts";
import type { MigratorOptions } from "../../run/run-context.ts";
import type { SessionOfSeveral } from "../../session/session.ts";
import { databasesChoice } from "./databases-flags.ts";
import { databasesReport, problemOf } from "./databases-report.ts";
import { onAllDatabases } from "./on-all-databases.ts";
import { statusOfAll } from "./status-all.ts";
import { upAll } from "./up-all.ts";

export function allDatabases(session: SessionOfSeveral, input: CommandInput): AllDatabases {
  const choice = databasesChoice(input.flags);
  return {
    up: async (wanted, budget) => await upAll(input, session, wanted, { ...choice, budget }),
    status: async () => await statusOfAll(input, session, choice),
    read: async (work, see) => await readAll(input, session, work, see),
  };
}

/** The page or the document of the command takes the place of the lines about databases that could be read. */
async function readAll<Result>(
  { output, signal, flags }: CommandInput,
  session: SessionOfSeveral,
  work: (options: MigratorOptions) => Promise<Result>,
  see: (one: ReadDatabase<Result>) => void,
): ReturnType<AllDatabases["read"]> {
  const report = databasesReport<Result>({ signal, output: { ...output, result() {} } }, () => "");
  const choice = { concurrency: databasesChoice(flags).concurrency, canaries: 0 };
  let names: readonly string[] = [];
  const untried = await onAllDatabases(session, work, choice, {
    begin(all) {
      names = all;
      report.begin(all);
    },
    end(one) {
      const { database: name, duration } = one;
      see({ name, duration, ...("result" in one ? { result: one.result } : { error: problemOf(one.error) }) });
      report.end(one);
    },
  });
  if (signal.aborted) throw interruptedEarly();
  return { names, finish: () => report.finish(session.target, untried) };
}

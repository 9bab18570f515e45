/** What `migrate report --fleet` shows: how far each database of a target is. */
import packageJson from "../../../package.json" with { type: "json" };
import { interruptedEarly, MigrateError } from "../../errors/migrate-error.ts";
import { onAllDatabases } from "../../session/on-all-databases.ts";
import { requireProject, type SessionOfSeveral } from "../../session/session.ts";
import { withAnySession, type Context } from "../../cli/command/command.ts";
import type { CommandResult } from "../../cli/command/exit-code.ts";
import { databasesReport, problemOf } from "../../cli/databases/report.ts";
import { status } from "../../commands/status.ts";
import type { MigratorOptions } from "../../run/run-context.ts";
import type { FleetDatabase, FleetDocument } from "./report-document.ts";
import { timeText } from "./runs.ts";

export interface FleetChoice {
  readonly madeAt: string;
  /** How many databases to read at a time. */
  readonly concurrency?: number | undefined;
}

export interface FleetReport {
  readonly document: FleetDocument;
  /** Prints which databases could not be read. Returns how the command ends. */
  readonly finish: () => CommandResult;
}

/** Throws ERR_USAGE if the target is one database; ERR_INTERRUPTED. */
export async function reportAll(context: Context, choice: FleetChoice): Promise<FleetReport> {
  return await withAnySession(context, async ({ databases, ...session }) => {
    if (databases !== undefined) return await readAll(context, { ...session, databases }, choice);
    requireProject(session.config);
    const problem = `target ${session.target} is one database, and --fleet is for a target with several; leave --fleet out`;
    throw new MigrateError("ERR_USAGE", { problem });
  });
}

async function readAll(
  { output, signal }: Context,
  session: SessionOfSeveral,
  { madeAt, concurrency }: FleetChoice,
): Promise<FleetReport> {
  const { target } = session;
  // The page or the document takes the place of the lines about databases that could be read.
  const report = databasesReport<DatabaseState>({ signal, output: { ...output, result() {} } }, () => "");
  const found = new Map<string, FleetDatabase>();
  let names: readonly string[] = [];
  const untried = await onAllDatabases(
    session,
    databaseState,
    { concurrency, canaries: 0 },
    {
      begin(all) {
        names = all;
        report.begin(all);
      },
      end(one) {
        const { database: name, duration } = one;
        found.set(name, { name, duration, ...("result" in one ? one.result : { error: problemOf(one.error) }) });
        report.end(one);
      },
    },
  );
  if (signal.aborted) throw interruptedEarly();
  return {
    document: {
      format: 1,
      target,
      madeAt,
      tool: `${packageJson.name} ${packageJson.version}`,
      databases: names.map((name) => found.get(name)!),
    },
    finish: () => report.finish(target, untried),
  };
}

/** How far a database is. */
type DatabaseState = Omit<Exclude<FleetDatabase, { readonly error: unknown }>, "name" | "duration">;

/** Reads only the ledger: nothing is planned, and no table is compared. */
export async function databaseState(options: MigratorOptions): Promise<DatabaseState> {
  const { applied, pending, reverting, begun, changed, doubts, holder, problem } = await status(options);
  const last = applied.toSorted((one, other) => one.order - other.order).at(-1);
  const partial = pending.filter((one) => one.partial !== undefined);
  return {
    applied: applied.length,
    last: last && { version: last.version, name: last.name, by: last.by, at: timeText(last.at) },
    pending: pending.length,
    unfinished: [...new Set([...reverting, ...begun, ...partial].map(({ version }) => version))],
    problems: [...(problem === undefined ? [] : [problem]), ...changed.map((one) => one.problem), ...doubts],
    holder,
  };
}

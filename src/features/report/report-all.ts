/** What `migrate report --fleet` shows: how far each database of a target is. */
import packageJson from "../../../package.json" with { type: "json" };
import { MigrateError } from "../../errors/migrate-error.ts";
import { status } from "../../commands/status.ts";
import type { MigratorOptions } from "../../run/run-context.ts";
import { requireDatabase } from "../../session/session.ts";
import { allDatabases, type AllDatabases } from "../../cli/command/additions.ts";
import { withAnySession, type Context } from "../../cli/command/command.ts";
import type { CommandResult } from "../../cli/command/exit-code.ts";
import type { FleetDatabase, FleetDocument } from "./report-document.ts";
import { timeText } from "./runs.ts";

export interface FleetReport {
  readonly document: FleetDocument;
  /** Prints which databases could not be read. Returns how the command ends. */
  readonly finish: () => CommandResult;
}

/** Throws ERR_USAGE if the target is one database; ERR_INTERRUPTED. */
export async function reportAll(context: Context, madeAt: string): Promise<FleetReport> {
  return await withAnySession(context, async (session) => {
    const { target } = session;
    const databases = session.databases === undefined ? undefined : await allDatabases(context, session);
    if (databases !== undefined) return await readAll(databases, target, madeAt);
    requireDatabase(session);
    const problem = `target ${target} is one database, and --fleet is for a target with several; leave --fleet out`;
    throw new MigrateError("ERR_USAGE", { problem });
  });
}

async function readAll(databases: AllDatabases, target: string, madeAt: string): Promise<FleetReport> {
  const found = new Map<string, FleetDatabase>();
  const { names, finish } = await databases.read(databaseState, ({ name, duration, ...one }) => {
    found.set(name, { name, duration, ...("result" in one ? one.result : one) });
  });
  return {
    document: {
      format: 1,
      target,
      madeAt,
      tool: `${packageJson.name} ${packageJson.version}`,
      databases: names.map((name) => found.get(name)!),
    },
    finish,
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

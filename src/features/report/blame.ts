/** Which migrations changed a column, and when and by whom they were run. Reads the ledger and the files, no table. */
import { MigrateError } from "../../errors/migrate-error.ts";
import type { LedgerMigration } from "../../ledger/state/fold-migration.ts";
import type { LedgerState } from "../../ledger/state/ledger-state.ts";
import { formatMigration } from "../../migrations/file-name.ts";
import { loadMigrations } from "../../migrations/source.ts";
import { tableLives, type ColumnEvent, type ColumnLife } from "./columns/column-lives.ts";
import { missingFiles } from "../../plan/history/pending.ts";
import { withStepsThatRan } from "../../plan/history/renumbered.ts";
import { inRunOrder } from "../../plan/history/replay.ts";
import { readLedger } from "../../run/prepare/consistent-read.ts";
import { runContext, type MigratorOptions } from "../../run/run-context.ts";
import { similarName } from "../../schema/names.ts";
import { isWithin, parsePath, type Path } from "../../schema/path.ts";

export interface BlamedColumn extends Pick<ColumnLife, "names" | "now"> {
  /** The newest first. */
  readonly events: readonly BlamedEvent[];
}

export interface BlamedEvent extends ColumnEvent, Partial<Pick<LedgerMigration, "at" | "by" | "duration">> {
  /** Of the migration. */
  readonly name: string;
  readonly status: "applied" | "baselined" | "partial" | "pending";
}

export interface Blame {
  /** Those that have the name now first; then those that had it, the last one first. */
  readonly columns: readonly BlamedColumn[];
  /** What is unknown, as text. */
  readonly problems: readonly string[];
}

/** `path`: a column, or a struct with all of its fields; all columns of the table if it is empty. Throws ERR_USAGE. */
export async function blame(options: MigratorOptions, table: string, path: Path): Promise<Blame> {
  const context = runContext(options);
  const files = context.migrations.list();
  const { state } = await readLedger(context, files);
  const migrations = withStepsThatRan(await loadMigrations(context.migrations, files), state);
  const { tables, problem } = tableLives(inRunOrder(migrations, state));
  const nameOf = new Map(files.map(({ version, name }) => [version, name]));
  const lives = tables.flatMap(({ columns }) => columns);
  const found = lives.filter(({ events }) => events.some((event) => isAt(event, table, path)));
  const missing = missingFiles(files, state).map(
    (one) => `${formatMigration(one)} has no file in the migrations folder, so its changes are unknown`,
  );
  if (found.length === 0) throw unknownColumn(table, path, lives);
  const isNow = ({ now }: ColumnLife) => now !== undefined && isAt(now, table, path);
  return {
    columns: [...found.filter(isNow), ...found.filter((life) => !isNow(life)).toReversed()].map(
      ({ names, now, events }) => ({
        names,
        now,
        events: events.toReversed().map((event) => blamed(event, nameOf.get(event.version)!, state)),
      }),
    ),
    problems: [...missing, ...(problem === undefined ? [] : [problem])],
  };
}

function isAt(place: Pick<ColumnEvent, "table" | "path">, table: string, path: Path): boolean {
  return place.table === table && isWithin(parsePath(place.path), path);
}

function blamed(event: ColumnEvent, name: string, { migrations }: LedgerState): BlamedEvent {
  const known = migrations.get(event.version);
  if (known === undefined) return { ...event, name, status: "pending" };
  const { at, by, duration, status, isBaselined } = known;
  return isBaselined === true
    ? { ...event, name, at, by, status: "baselined" }
    : { ...event, name, at, by, duration, status };
}

function unknownColumn(table: string, path: Path, lives: readonly ColumnLife[]): MigrateError {
  const names = new Set(lives.flatMap((life) => life.names));
  const wanted = path.length === 0 ? table : `${table}.${path.join(".")}`;
  const tables = new Set(lives.flatMap(({ events }) => events.map((event) => event.table)));
  // Only a name in the same table is near, or one in a table with a similar name.
  const own = tables.has(table) ? table : similarName(table, tables);
  const inside = [...names].flatMap((name) => (name.startsWith(`${own}.`) ? name.slice(own!.length + 1) : []));
  const near = path.length === 0 ? undefined : similarName(path.join("."), inside);
  const similar = path.length === 0 ? own : near && `${own}.${near}`;
  const problem = `no migration has a ${path.length === 0 ? "table" : "column"} ${wanted}`;
  return new MigrateError("ERR_USAGE", {
    problem: similar === undefined ? problem : `${problem}; did you mean ${similar}?`,
  });
}

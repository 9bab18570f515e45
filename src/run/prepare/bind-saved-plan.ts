/** Plans that are saved, and runs that carry out just what was saved. */
import { systemClock } from "../../time/clock.ts";
import { MigrateError } from "../../errors/migrate-error.ts";
import type { Journal } from "../../ledger/journal/journal.ts";
import { journalOf } from "../../ledger/journal/open-journal.ts";
import type { LedgerEntry, LedgerRecord } from "../../ledger/state/record.ts";
import { loadMigrations } from "../../migrations/source.ts";
import type { Direction } from "../../plan/compile/compile.ts";
import { migrationsOf, planDocument } from "../../plan/assess/plan-document.ts";
import { checkRefusals } from "../../plan/assess/guards.ts";
import type { Plan } from "../../plan/make-plan.ts";
import {
  asStale,
  checkFiles,
  checkLedger,
  checkPlace,
  checkPlan,
  checkTables,
  headOf,
  sealed,
  useOf,
  type SavedPlan,
  type TableNow,
} from "../../plan/assess/saved-plan.ts";
import { touchedTables } from "../../plan/reconcile/reconcile.ts";
import { cleaned } from "../../secrets/redact.ts";
import type { Target } from "../../targets/contract/target.ts";
import type { MigratorOptions } from "../options.ts";
import type { Planned } from "./plan-run.ts";
import { survey } from "./estimate.ts";
import { timeOf, type SeenTable } from "../check/table-identity.ts";
import type { Runner } from "../../ledger/lease/record-chain.ts";

/** What a run is bound to by the plan that it was given; to nothing where it was given none. */
export interface Binding {
  /** Throws ERR_PLAN_STALE where another run has written to the ledger since. */
  checkLedger(records: readonly LedgerRecord[]): void;
  /** Throws ERR_PLAN_STALE where the planned migrations are not as they were. */
  checkFiles(): Promise<void>;
  /** What `plan` makes. Throws ERR_PLAN_STALE where that is not what was saved. */
  keep(plan: () => Promise<Planned | undefined>): Promise<Planned | undefined>;
  /** What is recorded before anything is done. `next`: the first migration, as it is in doubt should the run die. */
  opening(next: number | undefined): readonly LedgerEntry[];
  /** The tables that it was made for, by their names then. */
  readonly tables: ReadonlyMap<string, SeenTable>;
}

const free: Binding = {
  checkLedger: () => {},
  keep: (plan) => plan(),
  opening: () => [],
  checkFiles: async () => {},
  tables: new Map(),
};

/** Throws ERR_PLAN_STALE where the plan is for another target, ERR_USAGE where it goes the other way. */
export function bindingOf(
  saved: SavedPlan | undefined,
  direction: Direction,
  journal: Journal,
  { target, ledger, migrations: source, runner }: MigratorOptions & { readonly runner: Runner },
): Binding {
  if (saved === undefined) return free;
  const { direction: planned } = saved.plan;
  if (planned !== direction)
    throw new MigrateError("ERR_USAGE", {
      problem: `the plan is one for migrate ${planned}, not for migrate ${direction}`,
    });
  checkPlace(saved, target);
  return {
    checkLedger(records) {
      const others = records.filter(({ run }) => run !== runner.run);
      checkLedger(saved, ledger, others, journal.hashOf);
    },
    async checkFiles() {
      const versions = new Set(migrationsOf(saved.plan).map(({ version }) => version));
      const files = source.list().filter(({ version }) => versions.has(version));
      checkFiles(saved, await loadMigrations(source, files));
    },
    async keep(plan) {
      const made = await plan().catch((error: unknown) => {
        throw asStale(saved, error);
      });
      if (made === undefined) return undefined;
      // As it was written: nothing in it is a secret.
      checkPlan(saved, cleaned(planDocument(made.plan, target.name, direction)));
      checkTables(saved, await tablesNow(saved, target));
      return made;
    },
    opening: (next) => [useOf(saved, next)],
    tables: tablesOf(saved),
  };
}

function tablesOf({ tables, times }: SavedPlan): Binding["tables"] {
  const seen = Object.entries(tables).filter((entry): entry is [string, number] => entry[1] !== null);
  return new Map(seen.map(([table, version]) => [table, { version, at: times?.[table] ?? undefined }]));
}

/** The plan with all that it was made from. `tables`: where they were looked at before. Throws what a run of it would refuse. */
export async function bind(
  { plan, records }: { readonly plan: Plan; readonly records: readonly LedgerRecord[] },
  direction: Direction,
  choice: SavedPlan["choice"],
  { target, ledger, clock = systemClock }: MigratorOptions,
  { tool }: Runner,
  tables?: BoundTables,
): Promise<SavedPlan> {
  checkRefusals(plan, target.name);
  const { hashOf } = journalOf(target, ledger, clock);
  return sealed({
    at: new Date(clock.wall()).toISOString(),
    tool,
    choice,
    place: target.place,
    ledger: { table: ledger, head: headOf(records, hashOf) },
    ...(tables ?? (await boundTables(plan, target))),
    plan: cleaned(planDocument(plan, target.name, direction, await survey(plan, target))),
  });
}

type BoundTables = Pick<SavedPlan, "tables" | "times">;

/** The tables that a plan touches, as it is bound to them. */
export async function boundTables(plan: Plan, target: Target): Promise<BoundTables> {
  const tables: Record<string, number | null> = {};
  const times: Record<string, number | null> = {};
  for (const table of touchedTables(plan)) {
    const sight = await target.describeTable(table);
    tables[table] = sight?.version ?? null;
    times[table] = (sight && (await timeOf(table, sight, target))) ?? null;
  }
  return { tables, times };
}

async function tablesNow(saved: SavedPlan, target: Target): Promise<ReadonlyMap<string, TableNow>> {
  const tables = new Map<string, TableNow>();
  for (const [table, version] of Object.entries(saved.tables)) {
    const newest = (await target.describeTable(table))?.version;
    if (version === null || newest === undefined) continue;
    const at = await target.versions?.time(table, version);
    tables.set(table, { newest, at, listsVersions: target.versions !== undefined });
  }
  return tables;
}

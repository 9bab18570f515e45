/** Saved plans, and runs that execute exactly what was saved. */
import { MigrateError } from "../../errors/migrate-error.ts";
import type { LedgerState } from "../../ledger/state/ledger-state.ts";
import type { LedgerEntry, LedgerRecord } from "../../ledger/state/record.ts";
import { loadMigrations } from "../../migrations/source.ts";
import type { Direction } from "../../plan/compile/compile.ts";
import { migrationsOf, planDocument } from "../../plan/document/plan-document.ts";
import { checkRefusals } from "../../plan/assess/guards.ts";
import { groupsIn, type GroupedPlan } from "../../plan/group/group-migrations.ts";
import type { Plan } from "../../plan/make-plan.ts";
import {
  asStale,
  checkFiles,
  checkPlace,
  checkPlan,
  headOf,
  isCarriedOut,
  sealed,
  useOf,
  type SavedPlan,
} from "../../plan/document/saved-plan.ts";
import {
  blockedSince,
  checkAccepted,
  checkTables,
  replacedTables,
  type TableNow,
} from "../../plan/document/saved-tables.ts";
import { touchedTables } from "../../plan/reconcile/reconcile.ts";
import { cleaned } from "../../secrets/redact.ts";
import type { Target } from "../../targets/contract/target.ts";
import type { Ledger } from "../lease/with-lease.ts";
import type { RunContext } from "../run-context.ts";
import type { PlannedRun } from "./plan-run.ts";
import { survey } from "./estimate.ts";
import { timeOfVersion, type SeenTable } from "../check/foreign-changes.ts";

/** What binds a run to the saved plan that it was given. A run without one is bound to nothing. */
export interface SavedPlanCheck {
  /** Whether the whole plan is carried out. Throws ERR_PLAN_STALE if another run has written to the ledger since. */
  isCarriedOut(ledger: Ledger): boolean;
  /** Throws ERR_PLAN_STALE if the planned migrations have changed. */
  checkFiles(): Promise<void>;
  /** Returns what `plan` makes. Throws ERR_PLAN_STALE if that is not what is left of what was saved. */
  planUnchanged(state: LedgerState, plan: () => Promise<PlannedRun | undefined>): Promise<PlannedRun | undefined>;
  /** The entries to record before the first action. `next`: the first migration, which is in doubt if the run dies. */
  firstEntries(next: number | undefined): readonly LedgerEntry[];
  /** The tables for which the plan was made, by their names at that time. */
  readonly tables: ReadonlyMap<string, SeenTable>;
}

const noSavedPlan: SavedPlanCheck = {
  isCarriedOut: () => false,
  planUnchanged: (_, plan) => plan(),
  firstEntries: () => [],
  checkFiles: async () => {},
  tables: new Map(),
};

/** Throws ERR_PLAN_STALE if the plan is for another target, ERR_USAGE if it is for the other direction. */
export function savedPlanCheck(
  saved: SavedPlan | undefined,
  direction: Direction,
  { target, ledger, journal, migrations: source, runner }: RunContext,
): SavedPlanCheck {
  if (saved === undefined) return noSavedPlan;
  const { direction: planned } = saved.plan;
  if (planned !== direction)
    throw new MigrateError("ERR_USAGE", {
      problem: `the plan is one for migrate ${planned}, not for migrate ${direction}`,
    });
  checkPlace(saved, target);
  let tables = tablesOf(saved);
  return {
    isCarriedOut({ records, state }) {
      const others = records.filter(({ run }) => run !== runner.run);
      return isCarriedOut(saved, ledger, { records: others, state }, journal.hashOf);
    },
    async checkFiles() {
      const versions = new Set(migrationsOf(saved.plan).map(({ version }) => version));
      const files = source.list().filter(({ version }) => versions.has(version));
      checkFiles(saved, await loadMigrations(source, files));
    },
    async planUnchanged(state, plan) {
      const made = await plan().catch((error: unknown) => {
        throw asStale(saved, error);
      });
      if (made === undefined) return undefined;
      if (made.plan.blocked !== undefined) throw blockedSince(saved, made.plan.blocked.problems);
      // The saved document was cleaned of secrets, so the new one is cleaned before they are compared.
      const now = cleaned(planDocument({ ...made.plan, groups: groupsIn(made.units) }, target.name, direction));
      const begun = checkPlan(saved, now, state);
      const seen = await tablesNow(saved, target);
      checkTables(saved, seen, begun);
      // What the tables have become is the work of the plan, so that only the loss itself shows whether it grew.
      if (begun.length > 0 || saved.choice.reinsert === true) checkAccepted(saved, now.accepted ?? []);
      const replaced = replacedTables(begun);
      const left = [...tables].filter(([table]) => !replaced.has(table));
      // By its instance the table is known also after the version of the plan was cleaned up.
      tables = new Map(left.map(([table, one]) => [table, { ...one, instance: seen.get(table)?.instance }]));
      return made;
    },
    firstEntries: (next) => [useOf(saved, next)],
    get tables() {
      return tables;
    },
  };
}

function tablesOf({ tables, times }: SavedPlan): SavedPlanCheck["tables"] {
  const seen = Object.entries(tables).filter((entry): entry is [string, number] => entry[1] !== null);
  return new Map(seen.map(([table, version]) => [table, { version, at: times?.[table] ?? undefined }]));
}

/**
 * The plan with everything that it was made from. `tables`: the tables, if they were described before. Throws if a run
 * of the plan would be refused.
 */
export async function bind(
  { plan: made, records }: { readonly plan: GroupedPlan; readonly records: readonly LedgerRecord[] },
  direction: Direction,
  choice: SavedPlan["choice"],
  context: RunContext,
  tables?: BoundTables,
): Promise<SavedPlan> {
  const {
    target,
    ledger,
    journal,
    clock,
    runner: { tool },
  } = context;
  // A saved plan lists its calls, so it runs no group but one that has begun.
  const plan = { ...made, groups: made.groups?.filter(({ inDoubt }) => inDoubt) };
  const isOther = plan.groups?.length !== made.groups?.length;
  const document = planDocument(plan, target.name, direction, await survey(plan, context));
  checkRefusals(plan, target.name);
  return sealed({
    at: new Date(clock.wall()).toISOString(),
    tool,
    choice,
    place: target.place,
    ledger: { table: ledger, head: headOf(records, journal.hashOf) },
    ...(tables ?? (await boundTables(plan, target))),
    plan: cleaned(isOther ? { ...document, stepByStep: true } : document),
  });
}

type BoundTables = Pick<SavedPlan, "tables" | "times">;

/** The tables that a plan touches, in the form in which it is bound to them. */
export async function boundTables(plan: Plan, target: Target): Promise<BoundTables> {
  const tables: Record<string, number | null> = {};
  const times: Record<string, number | null> = {};
  for (const table of touchedTables(plan)) {
    // A table that the plan creates may be there by now. The plan is not made for that one.
    const snapshot = isExpected(plan, table) ? await target.describeTable(table) : undefined;
    tables[table] = snapshot?.version ?? null;
    times[table] = (snapshot && (await timeOfVersion(table, snapshot, target))) ?? null;
  }
  return { tables, times };
}

/** Whether the table is there before the first action of the plan that concerns it. */
function isExpected({ migrations }: Plan, table: string): boolean {
  const first = migrations.flatMap(({ actions }) => actions).find(({ before }) => before.has(table));
  return first?.before.get(table) !== undefined;
}

async function tablesNow(saved: SavedPlan, target: Target): Promise<ReadonlyMap<string, TableNow>> {
  const tables = new Map<string, TableNow>();
  for (const [table, version] of Object.entries(saved.tables)) {
    const { version: newest, instance } = (await target.describeTable(table)) ?? {};
    if (version === null || newest === undefined) continue;
    const at = await target.versions?.time(table, version);
    tables.set(table, { newest, instance, at, listsVersions: target.versions !== undefined });
  }
  return tables;
}

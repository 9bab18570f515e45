/** The migrations of a report, from the ledger and the plans of their files. Pure. */
import type { LedgerState } from "../../ledger/state/ledger-state.ts";
import type { LedgerMigration } from "../../ledger/state/fold-migration.ts";
import type { MigrationName } from "../../migrations/file-name.ts";
import type { PlanDocument } from "../../plan/document/plan-document.ts";
import { summariesOf, type MigrationSummary, type WholeRollback } from "../../plan/document/plan-summary.ts";
import type { ReportedMigration } from "./report-document.ts";
import { timeText, type RanIn } from "./runs.ts";

interface ReportedFacts {
  readonly state: LedgerState;
  /** The versions of those that ran and have no file. */
  readonly missing: ReadonlySet<number>;
  readonly pending: readonly MigrationName[];
  readonly ranIn: ReadonlyMap<number, RanIn>;
  /** Of those that can be planned, as if none had run. */
  readonly planned: PlanDocument;
  /** What `migrate up` would run; undefined if it can't be planned. */
  readonly plan: PlanDocument | undefined;
}

export function reportedMigrations(known: ReportedFacts): readonly ReportedMigration[] {
  const { state, pending, ranIn, planned, plan } = known;
  const ran = [...state.migrations.values()].toSorted((one, other) => one.order - other.order);
  const begun = new Set(ran.map(({ version }) => version));
  const groups = Math.max(0, ...[...ranIn.values()].map(({ group = 0 }) => group));
  const all = byVersion(planned);
  const left = byVersion(plan);
  return [
    ...ran.map((one) => ({ ...ranMigration(one, known), ...plannedPart(all.get(one.version), left.get(one.version)) })),
    ...pending
      .filter(({ version }) => !begun.has(version))
      .map(({ version, name }) => {
        const own = left.get(version)?.group;
        const group = own && groups + 1 + (plan?.groups ?? []).indexOf(own);
        const part = plannedPart(all.get(version), left.get(version));
        return { version, name, status: "pending" as const, group, ...part };
      }),
  ];
}

function byVersion(plan: PlanDocument | undefined): ReadonlyMap<number, MigrationSummary> {
  return new Map(plan && summariesOf(plan).map((summary) => [summary.migration.version, summary]));
}

function ranMigration(ran: LedgerMigration, known: ReportedFacts): Omit<ReportedMigration, keyof PlannedPart> {
  const { version, name, at, by, duration, detail, reversal } = ran;
  const { run, group } = known.ranIn.get(version) ?? {};
  return {
    version,
    name,
    status: statusOf(ran, known),
    at: timeText(at),
    by,
    run,
    duration: ran.isBaselined === true ? undefined : duration,
    group,
    detail: reversal?.detail ?? detail,
  };
}

function statusOf(
  { version, status, isBaselined, reversal }: LedgerMigration,
  { missing }: ReportedFacts,
): ReportedMigration["status"] {
  if (missing.has(version)) return "missing";
  if (reversal !== undefined) return "reverting";
  if (status === "partial") return "partial";
  return isBaselined === true ? "baselined" : "applied";
}

type PlannedPart = Pick<ReportedMigration, "actions" | "rollback" | "risks" | "cost" | "refusals">;

/** `all`: what its file does. `left`: what `migrate up` would do, if something is left to run. */
function plannedPart(all: MigrationSummary | undefined, left: MigrationSummary | undefined): PlannedPart {
  return {
    actions: all?.migration.actions.map(({ text }) => text) ?? [],
    rollback: all?.rollback && reportedRollback(all.rollback),
    risks: (left ?? all)?.risks ?? [],
    cost: left?.cost,
    refusals: left?.refusals,
  };
}

function reportedRollback({ class: is, parts, reason, because }: WholeRollback): ReportedMigration["rollback"] {
  const text = parts.map((part) => part.text).join(", then ");
  return { class: is, text, reason: is === "restore" ? because : reason };
}

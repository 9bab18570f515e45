/** The migrations of a report, from the ledger and the plans of their files. Pure. */
import type { LedgerState } from "../../ledger/state/ledger-state.ts";
import type { LedgerMigration } from "../../ledger/state/fold-migration.ts";
import type { MigrationName } from "../../migrations/file-name.ts";
import { totalOf, type Survey } from "../../plan/assess/cost.ts";
import { risksNow } from "../../plan/document/plan-document.ts";
import type { GroupedPlan } from "../../plan/group/group-migrations.ts";
import type { PlannedMigration } from "../../plan/make-plan.ts";
import type { RollbackClass } from "../../plan/rollback/rollback-class.ts";
import type { ReportedMigration } from "./report-document.ts";
import { timeText, type RanIn } from "./runs.ts";

interface ReportedFacts {
  readonly state: LedgerState;
  /** The versions of those that ran and have no file. */
  readonly missing: ReadonlySet<number>;
  readonly pending: readonly MigrationName[];
  readonly ranIn: ReadonlyMap<number, RanIn>;
  /** By version, as if none had run; absent for one that can't be planned. */
  readonly planned: ReadonlyMap<number, PlannedMigration>;
  /** What `migrate up` would run; undefined if it can't be planned. */
  readonly plan: { readonly plan: GroupedPlan; readonly survey: Survey } | undefined;
}

export function reportedMigrations(known: ReportedFacts): readonly ReportedMigration[] {
  const { state, pending, ranIn } = known;
  const ran = [...state.migrations.values()].toSorted((one, other) => one.order - other.order);
  const begun = new Set(ran.map(({ version }) => version));
  const groups = Math.max(0, ...[...ranIn.values()].map(({ group = 0 }) => group));
  return [
    ...ran.map((one) => ranMigration(one, known)),
    ...pending
      .filter(({ version }) => !begun.has(version))
      .map(({ version, name }) => {
        const own = known.plan?.plan.groups?.findIndex(({ migrations }) =>
          migrations.some(({ migration }) => migration.version === version),
        );
        const group = own === undefined || own === -1 ? undefined : groups + 1 + own;
        return { version, name, status: "pending" as const, group, ...plannedPart(version, known) };
      }),
  ];
}

function ranMigration(ran: LedgerMigration, known: ReportedFacts): ReportedMigration {
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
    ...plannedPart(version, known),
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

/** What its file does, and for one that is left to run, what `migrate up` would do. */
function plannedPart(
  version: number,
  { planned, plan }: ReportedFacts,
): Pick<ReportedMigration, "actions" | "rollback" | "risks" | "cost" | "refusals"> {
  const all = planned.get(version);
  const actions = all?.actions.map(({ text }) => text) ?? [];
  const rollback = all && rollbackOf(all);
  const left = plan?.plan.migrations.find(({ migration }) => migration.version === version);
  if (left === undefined || plan === undefined) {
    const risks = all?.actions.flatMap((one) => one.risks.map(({ kind, text }) => ({ kind, text }))) ?? [];
    return { actions, rollback, risks };
  }
  const { survey } = plan;
  const isGrouped = plan.plan.groups?.some(({ migrations }) =>
    migrations.some(({ migration }) => migration.version === version),
  );
  return {
    actions,
    rollback,
    risks: left.actions.flatMap((one) => risksNow(one.risks, survey.get(one), isGrouped === true)),
    ...(isGrouped !== true && { cost: totalOf(left.actions.map((one) => survey.get(one)!.cost)) }),
    refusals: left.actions.flatMap(({ refusal = [] }) => refusal),
  };
}

const classes: readonly RollbackClass[] = ["exact", "checked", "restore", "none"];

/** Of the whole migration: its worst class, and what is done in which order. */
function rollbackOf({ actions, writtenDown }: PlannedMigration): ReportedMigration["rollback"] {
  if (writtenDown !== undefined) return { class: "written", text: writtenDown.join(", then ") };
  const all = actions.flatMap(({ rollback = [] }) => rollback).toReversed();
  const worst = classes.findLast((one) => all.some((back) => back.class === one));
  if (worst === undefined) return undefined;
  const distinct = (texts: readonly string[]) => [...new Set(texts)].filter((text) => text !== "");
  // What goes with a table needs no action of its own.
  const own = all.filter((one) => one.actions.length > 0 || one.class === "restore");
  const text = distinct((own.length > 0 ? own : all.slice(0, 1)).map((one) => one.text)).join(", then ");
  const reason = distinct(all.flatMap((one) => (one.class === worst ? (one.reason ?? []) : []))).join("; ");
  return { class: worst, text: worst === "none" ? "" : text, reason: reason === "" ? undefined : reason };
}

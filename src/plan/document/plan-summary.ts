/** What a plan's document states about each migration as a whole. All printers take it from here. Pure. */
import { totalOf, type Cost } from "../assess/cost.ts";
import type { Refusal } from "../refusal.ts";
import { rollbackClasses, type RollbackClass } from "../rollback/rollback-classes.ts";
import {
  migrationsOf,
  type DocumentAction,
  type DocumentGroup,
  type DocumentMigration,
  type PlanDocument,
} from "./plan-document.ts";

export interface MigrationSummary {
  readonly migration: DocumentMigration;
  /** The group that it runs in. */
  readonly group: DocumentGroup | undefined;
  readonly unfinished: boolean;
  readonly risks: readonly DocumentAction["risks"][number][];
  readonly refusals: readonly Refusal[];
  /** Undefined if its actions have none, as in a rollback. */
  readonly rollback: WholeRollback | undefined;
  /** Undefined if the target was not asked, or if the calls of a group run in place of its actions. */
  readonly cost: Cost | undefined;
}

/** How a whole migration is rolled back. */
export interface WholeRollback {
  /** The weakest class of its parts; `written` if its file exports `down`. */
  readonly class: RollbackClass | "written";
  /** In the order in which they run. None if it can't be rolled back. */
  readonly parts: readonly RollbackPart[];
  /** What may block it, or why there is none. */
  readonly reason: string | undefined;
  /** Why old versions must be restored. */
  readonly because?: string | undefined;
  readonly cost: Cost | undefined;
}

export interface RollbackPart {
  readonly text: string;
  /** Whether it restores an old version of a table, which undoes other changes too. */
  readonly restores: boolean;
}

export function summariesOf(plan: PlanDocument): readonly MigrationSummary[] {
  return migrationsOf(plan).map((migration) => {
    const { version, actions, unfinished = false } = migration;
    const group = plan.groups?.find(({ versions }) => versions.includes(version));
    const isCounted = plan.totals !== undefined && group === undefined;
    return {
      migration,
      group,
      unfinished,
      risks: actions.flatMap(({ risks }) => risks),
      refusals: actions.flatMap(({ refusal = [] }) => refusal),
      rollback: rollbackOf(migration),
      cost: isCounted ? totalOf(actions.flatMap(({ cost = [] }) => cost)) : undefined,
    };
  });
}

/** The first and the last migration of a group. */
export function groupEnds({ versions }: DocumentGroup, plan: PlanDocument): readonly DocumentMigration[] {
  return migrationsOf(plan).filter(({ version }) => version === versions[0] || version === versions.at(-1));
}

function rollbackOf({ actions, down }: DocumentMigration): WholeRollback | undefined {
  if (down !== undefined) {
    const parts = down.map((text) => ({ text, restores: false }));
    return { class: "written", parts, reason: undefined, cost: undefined };
  }
  const all = actions.flatMap(({ rollback = [] }) => rollback).toReversed();
  const impossible = all.filter((one) => one.class === "none").map(({ reason }) => reason);
  if (impossible.length > 0)
    return { class: "none", parts: [], reason: distinct(impossible).join("; "), cost: undefined };
  // What goes with a table needs no action of its own.
  const own = all.filter((one) => one.actions.length > 0 || one.class === "restore");
  const parts = own.length > 0 ? own : all.slice(0, 1);
  if (parts.length === 0) return undefined;
  const reasons = parts.flatMap((one) => {
    if (one.class === "restore") return ["refused if rows were written since"];
    return one.class === "checked" ? (one.reason ?? []) : [];
  });
  const restoring = parts.filter((one) => one.class === "restore");
  const restores = new Set(restoring.map(({ text }) => text));
  return {
    class: rollbackClasses.findLast((one) => parts.some((part) => part.class === one))!,
    parts: distinct(parts.map(({ text }) => text)).map((text) => ({ text, restores: restores.has(text) })),
    reason: distinct(reasons).join("; ") || undefined,
    because: distinct(restoring.flatMap(({ reason = [] }) => reason)).join("; ") || undefined,
    cost: totalOf(parts.flatMap(({ cost = [] }) => cost)),
  };
}

function distinct<Value>(values: readonly Value[]): readonly Value[] {
  return [...new Set(values)];
}

/** Of a migration that is planned, or reported. */
type Judged = Pick<MigrationSummary, "risks" | "unfinished"> & {
  readonly refusals?: readonly Refusal[] | undefined;
  readonly rollback?: Pick<WholeRollback, "class"> | undefined;
};

export function isRefused({ refusals = [] }: Pick<Judged, "refusals">): boolean {
  return refusals.length > 0;
}

/** Whether only consent is missing. */
export function needsConsent({ refusals = [] }: Pick<Judged, "refusals">): boolean {
  return refusals.length > 0 && refusals.every(({ reason }) => reason === "consent");
}

export function mayLoseData({ risks }: Pick<Judged, "risks">): boolean {
  return risks.some(({ kind, rows }) => kind === "loss" && rows !== 0);
}

/** "needs consent (1 unfinished, 2 may lose data)". Empty if nothing could be planned, and none of the migrations is so. */
export function verdictText(verdict: PlanDocument["verdict"] | undefined, all: readonly Judged[]): string {
  const found = [
    [all.filter(({ unfinished }) => unfinished).length, "unfinished"],
    [all.filter(mayLoseData).length, "may lose data"],
    [all.filter(({ rollback }) => rollback?.class === "none").length, "can't be rolled back"],
  ] as const;
  const remarks = found.flatMap(([number, words]) => (number === 0 ? [] : [`${number} ${words}`])).join(", ");
  if (verdict === undefined) return remarks;
  const words = verdict === "consent" ? "needs consent" : verdict;
  return remarks === "" ? words : `${words} (${remarks})`;
}

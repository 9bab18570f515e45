/** What `migrate report` shows, as plain JSON. Times are ISO texts, durations milliseconds. */
import type { Risk } from "../../actions/model/risk.ts";
import type { LedgerEvent } from "../../ledger/state/record.ts";
import type { Cost } from "../../plan/assess/cost.ts";
import type { CheckedContracts } from "../../plan/checked-contracts.ts";
import type { Refusal } from "../../plan/refusal.ts";
import type { RollbackClass } from "../../plan/rollback/rollback-class.ts";
import type { differenceDocument } from "../../plan/history/table-drift.ts";
import type { TableLife } from "../../plan/history/column-lives.ts";
import type { Deferral } from "../../run/deferral-text.ts";
import type { IndexRecall } from "../../commands/verify/verify-recall.ts";

export interface ReportDocument {
  readonly format: 1;
  readonly target: string;
  readonly madeAt: string;
  /** The release that made it. */
  readonly tool: string;
  /** Those that ran, in the order in which they ran, then those that are pending. */
  readonly migrations: readonly ReportedMigration[];
  /** Those that worked on a migration, or may have; the newest first. Records of the lease are left out. */
  readonly runs: readonly ReportedRun[];
  /** What `migrate up` would check. Absent if no contracts are configured, or it can't be planned. */
  readonly contracts?: CheckedContracts | undefined;
  /** With the pending migrations. */
  readonly tables: readonly TableLife[];
  /** Why the columns after some migration are unknown. */
  readonly tablesProblem?: string | undefined;
  /** The newest applied migration that can't be rolled back here. */
  readonly noReturn?: NoReturn | undefined;
  readonly drift: ReportedDrift;
  readonly preparing: readonly ReportedPreparing[];
  /** Only if it was asked for. */
  readonly recall?: readonly IndexRecall[] | undefined;
  /** The old versions of tables that are kept for rollbacks. */
  readonly kept: readonly ReportedVersion[];
  /** The migrations in doubt or under way, as text. */
  readonly doubts: readonly string[];
  /** The indexes that `migrate up` builds once their tables hold enough vectors. */
  readonly deferred: readonly Deferral[];
  /** How long the holder of the lease has been silent, and what follows from that, as text. */
  readonly lease?: string | undefined;
  /** Why `migrate up` would refuse to run, and what of this report could not be determined, as text. */
  readonly problems: readonly string[];
}

export interface ReportedMigration {
  readonly version: number;
  readonly name: string;
  /** `missing`: it ran, and its file is not in the migrations folder. */
  readonly status: "applied" | "baselined" | "partial" | "reverting" | "pending" | "missing";
  /** When it was applied, or was last worked on, and by whom. */
  readonly at?: string | undefined;
  readonly by?: string | undefined;
  readonly run?: string | undefined;
  /** Of the whole group, if it ran in one. */
  readonly duration?: number | undefined;
  /** Migrations with the same number ran as one group, or would run as one. */
  readonly group?: number | undefined;
  /** Why it stopped, or under which names it ran. */
  readonly detail?: string | undefined;
  /** What each action does, as text; empty if the file is missing or can't be loaded. */
  readonly actions: readonly string[];
  /** The worst class of its actions; `written` if the file exports `down`. */
  readonly rollback?:
    | { readonly class: RollbackClass | "written"; readonly text: string; readonly reason?: string | undefined }
    | undefined;
  readonly risks: readonly ReportedRisk[];
  /** Of a pending migration: what its actions cost. Absent for one of a group, which makes other calls. */
  readonly cost?: Cost | undefined;
  /** Of a pending migration: why `migrate up` would refuse actions of it. */
  readonly refusals?: readonly Refusal[] | undefined;
}

export interface ReportedRisk extends Pick<Risk, "kind" | "text"> {
  /** How many rows it is about now, if they were counted. */
  readonly rows?: number | undefined;
}

export interface ReportedRun {
  readonly run: string;
  readonly by: string;
  readonly tool: string;
  readonly began: string;
  /** Absent if the run may still be working. */
  readonly ended?: string | undefined;
  readonly milliseconds?: number | undefined;
  /**
   * `baselined`: it only marked migrations as applied. `unfinished`: it recorded no outcome; it was killed, or is still
   * working.
   */
  readonly outcome: "applied" | "baselined" | "reverted" | "failed" | "interrupted" | "unfinished" | "other";
  readonly events: readonly ReportedEvent[];
}

export interface ReportedEvent {
  readonly at: string;
  readonly event: LedgerEvent;
  readonly version?: number | undefined;
  readonly name?: string | undefined;
  readonly detail?: string | undefined;
}

export interface NoReturn {
  readonly version: number;
  readonly name: string;
  readonly why: string;
}

export type ReportedDrift =
  /** `columns`: whether columns were compared; otherwise only whether the tables exist. */
  | {
      readonly checked: true;
      readonly columns: boolean;
      readonly differences: readonly ReturnType<typeof differenceDocument>[];
    }
  /** `why`: why it could not be checked, as text. */
  | { readonly checked: false; readonly why: string };

/** A column whose values `migrate prepare` computes. */
export interface ReportedPreparing {
  readonly version: number;
  readonly table: string;
  readonly path: string;
  readonly rows: number;
  readonly computed: number;
  readonly failed: number;
  readonly perSecond?: number | undefined;
}

export interface ReportedVersion {
  readonly table: string;
  readonly version: number;
  /** The migration whose rollback restores it; absent if none does. */
  readonly migration?: string | undefined;
}

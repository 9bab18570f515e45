/** The events that a run emits. The library prints nothing; the command line renders them. */
import type { MigrationName } from "../migrations/file-name.ts";
import type { CheckedContracts } from "../plan/checked-contracts.ts";
import type { Direction } from "../plan/compile/compile.ts";
import type { Plan } from "../plan/make-plan.ts";
import type { Deferral } from "./deferral-text.ts";
import type { Phase } from "./phase.ts";
import type { Risk } from "../actions/model/risk.ts";

/** A change that others have come before. */
export interface Outrun {
  readonly tries: number;
  /** Milliseconds since the first try. */
  readonly elapsed: number;
  /** What the change is. */
  readonly text: string;
}

export type RunEvent =
  /** The run is about to take the lease. From here on it may hold the lease, and releases it when it ends. */
  | { readonly event: "taking" }
  | {
      readonly event: "planned";
      readonly direction: Direction;
      readonly migrations: readonly MigrationName[];
      readonly actions: number;
      readonly risks: readonly Pick<Risk, "kind" | "text">[];
      /** Where the database is, if it has no tables yet. */
      readonly newDatabase?: string | undefined;
    }
  /** The contracts that the plan was checked against. Absent if none are configured or given. */
  | ({ readonly event: "contracts" } & CheckedContracts)
  /** What the rollback loses or reinserts, or has lost, with the user's consent; as text. */
  | { readonly event: "accepted"; readonly words: string }
  /** A migration that ran under other names is recorded under its own name from now on. */
  | ({ readonly event: "recognised"; readonly was: readonly string[] } & MigrationName)
  /**
   * These migrations are applied and have no file here: a newer release has run, or the files are lost. `bundle`: what
   * the migrations were read from, if not from files.
   */
  | {
      readonly event: "missing";
      readonly migrations: readonly MigrationName[];
      readonly bundle?: string | undefined;
    }
  /** `lease`: milliseconds of silence after which the lease is taken over. `direction`: set for a rollback. */
  | { readonly event: "waiting"; readonly by: string; readonly lease: number; readonly direction?: "down" }
  /** The run is about to take the lease from a holder that was silent for a whole lease, or whose process is gone. */
  | { readonly event: "takenOver"; readonly by: string; readonly isGone?: true }
  | ({
      readonly event: "started";
      readonly direction: Direction;
      readonly done: number;
      readonly total: number;
    } & MigrationName)
  /** In place of `started` for each migration of the group. `calls`: one for each table, several at a time. */
  | { readonly event: "group"; readonly migrations: readonly MigrationName[]; readonly calls: number }
  | ({ readonly event: "action"; readonly text: string } & ActionRef)
  | ({ readonly event: "running"; readonly text: string; readonly elapsed: number } & ActionRef)
  /** `migrate prepare` begins with a column. */
  | { readonly event: "preparing"; readonly table: string; readonly path: string }
  /** A change of the table that the computed column needs is not made yet: writes of others came first in these tries. */
  | ({ readonly event: "outrun"; readonly table: string; readonly path: string } & Outrun)
  /** A hook of the configuration has failed at the end of a run that had failed before, for another reason. */
  | { readonly event: "hookFailed"; readonly problem: string }
  /** For how many rows code of the project has computed so far, and of how many, if they could be counted. */
  | {
      readonly event: "computed";
      readonly table: string;
      /** Absent if it computes rows of the table. */
      readonly path?: string | undefined;
      readonly rows: number;
      readonly total?: number | undefined;
    }
  /** A phase of computing a column begins, or is done with some more of its rows. */
  | {
      readonly event: "phase";
      readonly table: string;
      readonly path: string;
      readonly phase: Phase;
      readonly rows?: number | undefined;
      readonly total?: number | undefined;
    }
  /** A command that computes values, or rows if there is no path, has printed this besides its answers. */
  | { readonly event: "printed"; readonly table: string; readonly path?: string | undefined; readonly line: string }
  /** How many values were loaded with files of the column. `problem`: why others are merged instead. */
  | {
      readonly event: "loaded";
      readonly table: string;
      readonly path: string;
      readonly rows: number;
      readonly problem?: string | undefined;
    }
  /** The recall of a new index, and medians of the time of searches with the index and without it. */
  | ({ readonly event: "recall"; readonly table: string; readonly index: string; readonly k: number } & MeasuredRecall)
  /** The queries of the application were evaluated on the new values of a column. */
  | ({
      readonly event: "evaluated";
      readonly table: string;
      readonly path: string;
      /** The least share that is accepted, if the step states it, and whether it is reached. */
      readonly least?: number | undefined;
      readonly isEnough: boolean;
    } & Evaluated)
  /** A vector index is deferred: its table holds too few vectors. */
  | ({ readonly event: "deferred" } & Deferral)
  /** An index that was deferred is built. */
  | { readonly event: "indexed"; readonly table: string; readonly index: string; readonly duration: number }
  /** An index stays deferred, although there are enough vectors. */
  | { readonly event: "notIndexed"; readonly table: string; readonly index: string; readonly problem: string }
  /** Rows of a watched column that applications had left without a right value, and that are computed now. */
  | { readonly event: "caughtUp"; readonly table: string; readonly path: string; readonly rows: number }
  /** Rows without a right value. `problem`: why the first of them could not be computed. */
  | {
      readonly event: "notComputed";
      readonly table: string;
      /** Absent if it is the rows of a table that are computed from these rows. */
      readonly path?: string | undefined;
      /** Undefined if it is unknown whether there are any. */
      readonly rows: number | undefined;
      readonly problem: string;
    }
  | ({
      readonly event: "retried";
      readonly text: string;
      readonly reason: string;
      readonly problem: string;
    } & ActionRef)
  /** Other writers' appends are committed first each time, so the run hides columns for a moment. */
  | ({ readonly event: "detour"; readonly text: string } & ActionRef)
  | ({ readonly event: "done"; readonly text: string; readonly duration: number } & ActionRef)
  /** `group`: how many migrations ran as one group with it; the duration is then that of the group. */
  | ({ readonly event: "applied"; readonly duration: number; readonly group?: number | undefined } & MigrationName)
  | ({ readonly event: "reverted"; readonly duration: number } & MigrationName)
  /** A late call may or may not have changed rows of the table. Only people can find that out. */
  | ({
      readonly event: "unseen";
      readonly table: string;
      /** What to look for, as text. */
      readonly check: string;
    } & ActionRef)
  /** The table's version before the migration can't be kept: `down` can restore it only until it is cleaned up. */
  | ({ readonly event: "unkept"; readonly table: string; readonly problem: string } & MigrationName)
  /**
   * The run ends because it has lost the target, the ledger or the lease, or can't read a file of a table. States the
   * progress at that point; the next run resumes there.
   */
  | ({
      readonly event: "left";
      readonly direction: Direction;
      /** Whether another run may have taken over, and be further by now. */
      readonly isTakenOver: boolean;
      /** How many migrations this run applied or rolled back. */
      readonly applied: number;
      readonly done: number;
      readonly total: number;
    } & MigrationName)
  | { readonly event: "finished"; readonly applied: number; readonly duration: number }
  | { readonly event: "finished"; readonly reverted: number; readonly duration: number };

/** An action of a migration; actions are counted from 1. */
export interface ActionRef extends MigrationName {
  readonly action: number;
  readonly total: number;
}

export type Emit = (event: RunEvent) => void;

/**
 * Whether a rollback refuses to lose rows by this action. If the user accepts that, the event `accepted` states how many
 * there are.
 */
function isGuarded({ blockers, done }: Plan["migrations"][number], index: number): boolean {
  return blockers.some(({ at }) => at === done + index);
}

export function plannedEvent({ migrations, newDatabase }: Plan, direction: Direction): RunEvent {
  return {
    event: "planned",
    direction,
    migrations: migrations.map(({ migration: { version, name } }) => ({ version, name })),
    actions: migrations.reduce((sum, { actions }) => sum + actions.length, 0),
    risks: migrations.flatMap((one) =>
      one.actions.flatMap(({ risks }, index) =>
        risks.flatMap(({ kind, text }) => (kind === "loss" && isGuarded(one, index) ? [] : { kind, text })),
      ),
    ),
    ...(newDatabase !== undefined && { newDatabase }),
  };
}

/** What queries find in the old and in the new values of a column. */
export interface Evaluated {
  readonly k: number;
  readonly queries: number;
  /** The mean share of the expected rows that were found, of the queries that state them. `old`: if it is known for all of these. */
  readonly recall?: { readonly queries: number; readonly old?: number; readonly new: number } | undefined;
  /** The mean share of the rows that both find, of the queries that have vectors of both models. */
  readonly overlap?: { readonly queries: number; readonly shared: number } | undefined;
  /** The queries with the worst results. */
  readonly samples: readonly EvaluatedQuery[];
}

/** Keys of rows, the nearest first. */
export interface EvaluatedQuery {
  readonly query: string;
  readonly expected?: readonly string[] | undefined;
  readonly old?: readonly string[] | undefined;
  readonly new: readonly string[];
}

export interface MeasuredRecall {
  /** The mean share of the true neighbours that the index found; undefined if no vector has neighbours. */
  readonly recall: number | undefined;
  /** For how many vectors. */
  readonly sampled: number;
  /** Medians of the searches with the index, and of those that compare all vectors. */
  readonly indexMilliseconds: number | undefined;
  readonly exactMilliseconds: number | undefined;
}

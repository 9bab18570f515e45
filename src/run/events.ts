/** What a run tells while it goes on. The library prints nothing; the command line renders these. */
import type { MigrationName } from "../migrations/file-name.ts";
import type { Direction } from "../plan/compile/compile.ts";
import type { Plan } from "../plan/make-plan.ts";
import type { Recovery } from "../plan/assess/recovery.ts";
import type { Risk } from "../actions/model/risk.ts";

export type RunEvent =
  /** The lease is about to be asked for: from here on it may be ours, and is given back when the run ends. */
  | { readonly event: "taking" }
  | {
      readonly event: "planned";
      readonly direction: Direction;
      readonly migrations: readonly MigrationName[];
      readonly actions: number;
      readonly risks: readonly Pick<Risk, "kind" | "text">[];
    }
  /** What goes, or is put back, with what is taken back; or what was lost with it, where a loss was accepted. */
  | { readonly event: "accepted"; readonly words: string }
  /** A migration that ran under other names goes by its own from now on. */
  | ({ readonly event: "recognised"; readonly was: readonly string[] } & MigrationName)
  /** They are applied and have no file here: a newer release has run, or the files are lost. */
  | { readonly event: "missing"; readonly migrations: readonly MigrationName[] }
  /** `lease`: milliseconds of silence after which it is taken over. */
  | { readonly event: "waiting"; readonly by: string; readonly lease: number }
  | { readonly event: "takenOver"; readonly by: string }
  | ({
      readonly event: "started";
      readonly direction: Direction;
      readonly done: number;
      readonly total: number;
    } & MigrationName)
  | ({ readonly event: "action"; readonly text: string } & ActionRef)
  | ({ readonly event: "running"; readonly text: string; readonly elapsed: number } & ActionRef)
  | ({
      readonly event: "retried";
      readonly text: string;
      readonly reason: string;
      readonly problem: string;
    } & ActionRef)
  /** Others' appends come first each time: a column is hidden by this, and shown again soon. */
  | ({ readonly event: "detour"; readonly text: string } & ActionRef)
  | ({ readonly event: "done"; readonly text: string; readonly duration: number } & ActionRef)
  | ({ readonly event: "applied" | "reverted"; readonly duration: number } & MigrationName)
  /** A call that may have come late has changed rows of a table, or not: nobody can see that but people. */
  | ({ readonly event: "unseen"; readonly table: string } & ActionRef)
  /** A table's version before the migration can't be kept: `down` restores it as long as it is there. */
  | ({ readonly event: "unkept"; readonly table: string; readonly problem: string } & MigrationName)
  /** A run ends because the target or the lease is gone: so much is done by then, and the next run goes on. */
  | ({
      readonly event: "left";
      readonly direction: Direction;
      /** How many migrations were applied, or taken back, in this run. */
      readonly applied: number;
      readonly done: number;
      readonly total: number;
    } & MigrationName)
  /** What taking back what was applied would be. */
  | ({ readonly event: "recovery" } & Recovery)
  | { readonly event: "finished"; readonly applied: number; readonly duration: number }
  | { readonly event: "finished"; readonly reverted: number; readonly duration: number };

/** Which action of which migration; counted from 1. */
export interface ActionRef extends MigrationName {
  readonly action: number;
  readonly total: number;
}

export type Emit = (event: RunEvent) => void;

export function plannedEvent({ migrations }: Plan, direction: Direction): RunEvent {
  return {
    event: "planned",
    direction,
    migrations: migrations.map(({ migration: { version, name } }) => ({ version, name })),
    actions: migrations.reduce((sum, { actions }) => sum + actions.length, 0),
    risks: migrations.flatMap(({ actions }) =>
      actions.flatMap(({ risks }) => risks.map(({ kind, text }) => ({ kind, text }))),
    ),
  };
}

/**
 * The states that a command which has failed, was stopped or was killed can leave, and the commands that lead out of each of
 * them. The runbook lists them, and test/states takes both ways out of each state.
 */
export interface State {
  /** What has happened, as a sentence. */
  readonly means: string;
  /** The commands that go on, separated by ", then ". N is the number of the migration. */
  readonly on: string;
  /** The commands that go back to what was before the migration. */
  readonly back: string;
}

export const states = {
  "half done": {
    means:
      "Some actions of a migration are done, and the next one has failed or has not begun. Or an action has stopped between two of its commits, and `migrate down` can undo it, because it restores an earlier version of the table or drops the table.",
    on: "migrate up",
    back: "migrate down",
  },
  "between two commits": {
    means:
      "An action that takes several commits has failed or was interrupted between two of them, and what it had done was not undone, for example because the disk is full. `migrate down` can't undo such an action, because it restores no earlier version of its table.",
    on: "migrate up",
    back: "migrate up --to N, then migrate down",
  },
  "in doubt": {
    means: "A run was killed, or got no answer, during an action. It may or may not have taken effect.",
    on: "migrate up",
    back: "migrate up --to N, then migrate down",
  },
  "under way": {
    means: "Another run holds the lease and works on a migration.",
    on: "migrate up",
    back: "migrate up --to N, then migrate down",
  },
  "being rolled back": {
    means: "A rollback has failed, was stopped or was killed before its end.",
    on: "migrate down, then migrate up",
    back: "migrate down",
  },
  "prepared in part": {
    means: "`migrate prepare` has failed, was stopped or was killed before its end.",
    on: "migrate prepare, then migrate up",
    back: "migrate prepare --discard",
  },
  "ledger lost": {
    means: "The ledger is gone, and the tables are as migrations have left them.",
    on: "migrate repair --yes, then migrate up",
    back: "migrate repair --yes, then migrate down",
  },
  "tables behind": {
    means: "All tables were restored to the same earlier time, and the ledger was not.",
    on: "migrate repair --yes, then migrate up",
    back: "migrate repair --yes, then migrate down",
  },
  "table gone": {
    means:
      "A table was dropped, and there is no backup of it. `migrate repair` changes only the ledger, and the next `migrate up` creates the table EMPTY.",
    on: "migrate repair --yes, then migrate up",
    back: "migrate repair --yes",
  },
} as const satisfies Readonly<Record<string, State>>;

export type StateName = keyof typeof states;

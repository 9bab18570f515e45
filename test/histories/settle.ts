/** What came of a run: whether what the tables hold is what they may hold after it. Pure. */
import type { MigrateError } from "../../src/errors/migrate-error.ts";
import { judge, type Found, type Judgement, type Known, type Stage, type Start } from "./oracle.ts";
import type { World } from "./shapes.ts";
import { violation } from "./violation.ts";
import type { Write } from "./write.ts";

/** The error that a run ended with, and what was written meanwhile. */
export interface Outcome {
  readonly error: MigrateError | undefined;
  readonly writes: readonly Write[];
  /** What it said that it would lose. */
  readonly accepted: readonly string[];
}

/** The same stages where they lose what was written since. */
export interface Losing {
  readonly stages: readonly Stage[];
  /** Whether `--accept lossy` was given. */
  readonly isAccepted: boolean;
}

export interface Settled {
  /** How many of the stages were done. */
  readonly done: number;
  /** Undefined where nothing can follow. */
  readonly known: Known | undefined;
  readonly isOver: boolean;
  readonly notes: readonly string[];
}

interface Reading {
  readonly stages: readonly Stage[];
  /** Columns may be between those before and after an action. */
  readonly isMidway: boolean;
}

/** Throws a violation. `recorded`: after how many of the stages the ledger says that it ended. */
export function settle(
  { error, writes, accepted }: Outcome,
  start: Start,
  found: ReadonlyMap<string, Found>,
  stages: readonly Stage[],
  recorded: number,
  losing?: Losing,
): Settled {
  const hasFailed = error?.outcome === "failed";
  const possibly = Array.from({ length: stages.length + 1 }, (_, done) => done)
    .filter((done) => (error === undefined ? done === stages.length : hasFailed ? mayEnd(stages, done) : done === 0))
    .toSorted((one, other) => Math.abs(one - recorded) - Math.abs(other - recorded));
  const mayLose = losing !== undefined && (losing.isAccepted || hasFailed);
  const whole: readonly Reading[] = [
    { stages, isMidway: false },
    ...(mayLose ? [{ stages: losing.stages, isMidway: false }] : []),
  ];
  const midway = hasFailed ? whole.map((one) => ({ ...one, isMidway: true })) : [];
  let best: Judgement | undefined;
  for (const reading of [...whole, ...midway])
    for (const done of possibly) {
      const judgement = judge(start, reading.stages, writes, done, found, reading.isMidway);
      if (judgement.problems.length > 0) {
        if (best === undefined || judgement.problems.length < best.problems.length) best = judgement;
        continue;
      }
      const notes = reading.isMidway ? ["ended between two commits"] : [];
      if (reading.stages !== stages) {
        const strict = judge(start, stages, writes, done, found, reading.isMidway);
        const stated = [...accepted, error?.message ?? ""].join("; ");
        const worlds = [start.world, ...stages.map(({ world }) => world)];
        const unsaid = strict.tables.find((name) => !isNamed(name, worlds, done, stated));
        // What comes in the last moment can't be counted before, and is lost with consent.
        if (unsaid !== undefined && !(losing!.isAccepted && writes.length > 0))
          throw violation(`what ${unsaid} lost was not said: ${stated}`, strict.problems);
        notes.push("losses that were accepted or stated");
      }
      return { done, known: judgement.known, isOver: reading.isMidway, notes };
    }
  // A table that an application creates again has the columns that it had when the application looked: what came in between
  // is undone. Its rows have to be there all the same.
  if (writes.some(({ kind }) => kind === "recreate")) {
    const isKept = possibly.some((done) => judge(start, stages, writes, done, found, true).problems.length === 0);
    const notes = ["ended by a table that was created again"];
    if (isKept || hasFailed) return { done: 0, known: undefined, isOver: true, notes };
  }
  throw violation(`it ended with ${error === undefined ? "exit 0" : error.code}`, best?.problems);
}

/** By the name that the table has after `done` stages, or one that it had before: a rollback may rename it first. */
function isNamed(name: string, worlds: readonly World[], done: number, text: string): boolean {
  const number = worlds[done]?.get(name)?.number;
  const names = worlds.flatMap((world) => [...world].flatMap(([own, shape]) => (shape.number === number ? own : [])));
  return [name, ...names].some((own) => new RegExp(`\\b${own}\\b`).test(text));
}

/** No run ends between the beginning of a migration and its first action. */
function mayEnd(stages: readonly Stage[], done: number): boolean {
  const last = stages[done - 1];
  return !(last !== undefined && "ran" in last && last.ran === undefined && done < stages.length);
}

/** What runs do, stage by stage, as the oracle follows it. Pure. */
import type { Migration } from "../../src/migrations/load.ts";
import type { RollbackClass } from "../../src/plan/rollback/rollback-classes.ts";
import type { Action } from "../../src/actions/model/action.ts";
import { changesRows } from "../../src/actions/apply-action.ts";
import { compileStep } from "../../src/steps/registry.ts";
import { effectOf, type Effect } from "./effects.ts";
import type { Stage } from "./oracle.ts";
import { begin, end, type Change } from "./rows.ts";
import { worldAfter, type World } from "./shapes.ts";
import { keyOf } from "./steps.ts";
import type { WriteKind } from "./write.ts";

/** An action that ran. */
export interface Ran {
  readonly action: Action;
  readonly before: World;
  readonly after: World;
  readonly effect: Effect;
}

/** A migration that ran, or some of its actions. */
export interface Applied {
  readonly migration: Migration;
  readonly ran: readonly Ran[];
  readonly total: number;
  /** What its plan promised of rolling it back. */
  readonly classes: ReadonlySet<RollbackClass>;
  /** Whether an application has written anything since it began. */
  readonly isWrittenSince: boolean;
  /** Whether an application has dropped a table and created it again since. */
  readonly isRecreatedSince: boolean;
}

export interface UpStage extends Stage {
  readonly version: number;
  /** Undefined where the migration begins. */
  readonly ran: Ran | undefined;
}

const same: Change = (state) => [state];
let last = 0;

/** `done`: how many actions of it have run. */
export function stagesUp(migration: Migration, done: number, world: World): readonly UpStage[] {
  const { version } = migration;
  const actions = migration.steps.flatMap((step) => compileStep(step)).slice(done);
  const stages: UpStage[] = [];
  let before = world;
  if (done === 0) stages.push({ version, world, change: () => begin, brings: [], ran: undefined });
  for (const action of actions) {
    const after = worldAfter(before, action);
    const effect = effectOf(action, `${++last}`, before, after, keyOf)!;
    stages.push({
      version,
      world: after,
      change: (table, key) => (table === effect.table ? effect.forward(key) : same),
      brings: effect.brings.map((key) => ({ table: effect.table, key })),
      ran: { action, before, after, effect },
    });
    before = after;
  }
  return stages;
}

/** What takes each of its actions back, the last first. `mayLose`: what applications have written since. */
export function stagesDown({ ran }: Applied, world: World, mayLose: boolean): readonly Stage[] {
  const stages = ran.toReversed().map(({ before, effect }): Stage => ({
    world: before,
    change: (table, key) => (table === effect.table ? effect.back(key, mayLose) : same),
    brings: [],
  }));
  return [...stages, { world: stages.at(-1)?.world ?? world, change: () => end(mayLose), brings: [] }];
}

/** What has run, after some more stages. `isWhole`: of a migration without actions too. */
export function advanced(
  applied: readonly Applied[],
  pending: readonly Migration[],
  stages: readonly UpStage[],
  classes: ReadonlyMap<number, Applied["classes"]>,
  isWhole: boolean,
): readonly Applied[] {
  return [...new Set(stages.map(({ version }) => version))].reduce((known, version) => {
    const migration = pending.find((one) => one.version === version)!;
    const before = known.find((one) => one.migration.version === version);
    const own = stages.flatMap((stage) => (stage.version === version && stage.ran !== undefined ? [stage.ran] : []));
    const ran = [...(before?.ran ?? []), ...own];
    if (ran.length === 0 && !isWhole) return known;
    const total = migration.steps.flatMap((step) => compileStep(step)).length;
    const { isWrittenSince = false, isRecreatedSince = false } = before ?? {};
    // The plan of a run that resumes lists only what is left.
    const promised = new Set([...(before?.classes ?? []), ...(classes.get(version) ?? [])]);
    const one = { migration, ran, total, classes: promised, isWrittenSince, isRecreatedSince };
    return [...known.filter((other) => other !== before), one];
  }, applied);
}

/**
 * Compaction writes nothing. Beside a migration that writes rows itself it makes versions all the same, so that nobody can tell
 * which rows are the migration's. `isBeside`: whether it came while the migration ran.
 */
export function writtenSince(one: Applied, kind: WriteKind, isBeside: boolean): Applied {
  const hidesRows = isBeside && one.ran.some(({ action }) => changesRows(action));
  return {
    ...one,
    isWrittenSince: one.isWrittenSince || kind !== "optimize" || hidesRows,
    isRecreatedSince: one.isRecreatedSince || kind === "recreate",
  };
}

/**
 * Whether a run drops tables, which it may create again. A handle that was opened before that breaks the new one when it
 * appends, without any migration (docs/internals/engine.md). So nobody writes beside such a run.
 */
export function dropsTables(world: World, stages: readonly Stage[]): boolean {
  const worlds = [world, ...stages.map((stage) => stage.world)];
  return worlds.some((one, index) => [...one.keys()].some((name) => worlds[index + 1]?.has(name) === false));
}

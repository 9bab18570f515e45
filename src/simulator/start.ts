/** One run of a schedule: its machine, its way to the tables, and what becomes of it. */
import { canonicalJson } from "../migrations/checksum.ts";
import type { MigrationFile } from "../migrations/files.ts";
import type { Migration } from "../migrations/load.ts";
import type { MigrationSource } from "../migrations/source.ts";
import { down } from "../run/down.ts";
import { up } from "../run/migrator.ts";
import type { MigratorOptions } from "../run/options.ts";
import type { Action } from "../schema/action.ts";
import { guardColumn, keepsOut } from "../schema/actions/guard.ts";
import { abilitiesOf, memoryTarget } from "../targets/memory/memory.ts";
import type { MemoryTables } from "../targets/memory/tables.ts";
import { isFenced } from "../targets/target.ts";
import { ownerOf } from "./ledger-view.ts";
import { aMachine, type Machine } from "./machine.ts";
import { carryFor } from "./network.ts";
import { ledger, wordsOf, type Scene, type SimulatedRun } from "./scene.ts";
import type { Watcher } from "./watcher.ts";

/** What writes new files for the rows that are there, on a table from which appends are not kept out. */
function meetsAppends(action: Action, tables: MemoryTables): boolean {
  const table = tables.get(action.table);
  if (table === undefined || keepsOut(table)) return false;
  return (
    action.kind === "addColumns" ||
    (action.kind === "alterColumns" && action.alterations.some(({ type }) => type !== undefined))
  );
}

export interface Start extends Pick<SimulatedRun, "files" | "lease" | "patience" | "trouble" | "weather"> {
  readonly name: string;
  /** Applies everything, whatever the others are for. */
  readonly upwards?: boolean | undefined;
}

export function start(
  scene: Scene,
  { name, files, lease, patience, trouble, weather, upwards: isUp = false }: Start,
): SimulatedRun {
  const { world, chance, tables, model, watcher, goal } = scene;
  const { tell } = watcher;
  watcher.count("run");
  const machine = aMachine(name, world, chance, trouble, watcher);
  const run: SimulatedRun = { machine, trouble, weather, files, lease, patience, ended: undefined };
  scene.runs.push(run);
  const carry = carryFor(machine, {
    world,
    chance,
    model,
    weather,
    lease: scene.lease,
    // Some wait for less than an action takes, and then hear of it no more.
    limit: scene.lease * (weather.slow > 0 ? chance.pick([0.5, 1, 10]) : 10),
    refuses: (action) => scene.refused.has(refusedAs(action)),
    meetsAppends: (action) => meetsAppends(action, tables),
    arrived: (action, sender) => watch(scene, action, sender),
    watcher,
  });
  const target = memoryTarget({ name: model, model, tables, carry, clock: machine.clock });
  const options: MigratorOptions = {
    target,
    migrations: sourceOf(scene.migrations.slice(0, files)),
    ledger,
    lease: { duration: lease, patience },
    clock: machine.clock,
    runner: { by: name, run: name, tool: "simulator" },
    signal: machine.signal,
    emit: (event) => tell(() => `   ${name}: ${JSON.stringify(event)}`),
  };
  const going =
    goal.backTo === undefined || isUp
      ? up(options).then(({ applied, total }) => ({ changed: applied, total }))
      : down(options, { to: goal.backTo, acceptLoss: true }).then(({ reverted, total }) => ({
          changed: reverted,
          total,
        }));
  going.then(
    (result) => end(run, { result }, tell),
    (error: unknown) => end(run, { error }, tell),
  );
  return run;
}

function end(run: SimulatedRun, ended: NonNullable<SimulatedRun["ended"]>, tell: Watcher["tell"]): void {
  run.ended = ended;
  run.machine.end();
  const words = () =>
    "error" in ended ? wordsOf(ended.error) : `changed ${ended.result.changed}, ${ended.result.total} are applied`;
  tell(() => `   ${run.machine.name} ends: ${words()}`);
}

function renamedBy(action: Action): string | undefined {
  const renames = action.kind === "alterColumns" && action.alterations.some(({ rename }) => rename !== undefined);
  return renames ? action.table : undefined;
}

/** Follows an action from when it reaches the tables to when it has taken effect. */
function watch(scene: Scene, action: Action, sender: Machine) {
  const { model, tables, late, watcher } = scene;
  const before = tables.get(action.table);
  const inTime = ownerOf(tables) === sender.name;
  return {
    done() {
      const after = tables.get(action.table);
      if (after?.effects === before?.effects && canonicalJson(after?.indexes) === canonicalJson(before?.indexes))
        return;
      if (ownerOf(tables) === sender.name) return;
      if (!inTime) watcher.count("late");
      // What is fenced was done only because nobody has changed the table since it was looked at, which harms nobody.
      if (!isFenced(action.kind, abilitiesOf(model)))
        late.push({ sender, arrivedInTime: inTime, renamed: renamedBy(action) });
    },
  };
}

/** What data stands in the way of it: a guard has the same value in every row. */
export function refusedAs(action: Action): string {
  if (action.kind !== "addColumns" || action.columns.length === 1) return canonicalJson(action);
  return canonicalJson({ ...action, columns: action.columns.filter(({ name }) => name !== guardColumn.name) });
}

/** Migrations that are in memory. */
export function sourceOf(migrations: readonly Migration[]): MigrationSource {
  const byFile = new Map(migrations.map((migration) => [migration.file, migration]));
  const files = migrations.map(({ version, name, file, path, textHash }): MigrationFile => ({
    version,
    name,
    file,
    path,
    textHash,
  }));
  return { list: () => files, load: async ({ file }) => byFile.get(file)! };
}

/** One run of a schedule: its machine, its way to the tables, and what becomes of it. */
import { embed } from "../../src/features/embed/feature.ts";
import { canonicalJson } from "../../src/migrations/checksum.ts";
import { formatVersion } from "../../src/migrations/file-name.ts";
import type { MigrationFile } from "../../src/migrations/list-files.ts";
import type { Migration } from "../../src/migrations/load.ts";
import type { MigrationSource } from "../../src/migrations/source.ts";
import type { RunEvent } from "../../src/run/events.ts";
import type { MigratorOptions } from "../../src/run/run-context.ts";
import type { Action } from "../../src/actions/model/action.ts";
import { changesRows, replacesTable, tablesOfAction } from "../../src/actions/apply-action.ts";
import { guardColumn, keepsOut } from "../../src/actions/rewrite/append-guard.ts";
import { memoryTarget, type TargetWatch } from "./target/memory-target.ts";
import type { MemoryTables } from "./target/memory-table.ts";
import { ledgerRows, ownerOf } from "./ledger-view.ts";
import { lossesOf } from "./losses.ts";
import { aMachine } from "./machine.ts";
import { carryFor } from "./network.ts";
import { isAsking, wordsOf, type Scene, type SimulatedRun } from "./schedule-state.ts";
import { isLedger, ledger } from "./scenario.ts";
import type { Row } from "../../src/wire/rows/ipc-rows.ts";
import type { SavedPlan } from "../../src/plan/document/saved-plan.ts";
import { carryOut } from "./run-variants.ts";
import type { Watcher } from "./observer.ts";

/** What writes new files for the rows that are there, on a table from which appends are not kept out. */
function meetsAppends(action: Action, tables: MemoryTables): boolean {
  const table = tables.get(action.table);
  if (table === undefined || keepsOut(table)) return false;
  return (
    action.kind === "addColumns" ||
    action.kind === "addField" ||
    (action.kind === "alterColumns" && action.alterations.some(({ type }) => type !== undefined))
  );
}

export interface Start extends Pick<SimulatedRun, "files" | "lease" | "patience" | "trouble" | "weather" | "order"> {
  readonly name: string;
}

export function start(scene: Scene, { name, files, lease, patience, trouble, weather, order }: Start): SimulatedRun {
  const { world, chance, tables, model, watcher, goal, application } = scene;
  const { tell, count } = watcher;
  watcher.count("run");
  if (scene.orders.has("opposite") && order.direction === "up") count("opposite");
  if (!order.acceptLoss) count("careful");
  if (order.savedFor !== undefined) count("saved");
  const told: Watcher = {
    tell,
    count(what) {
      count(what);
      if (what === "kill") application.afterKill();
    },
  };
  const machine = aMachine(name, world, chance, trouble, told, scene.sleepers);
  const strayed: string[] = [];
  const run: SimulatedRun = {
    machine,
    trouble,
    weather,
    files,
    lease,
    patience,
    order,
    strayed,
    outdated: [],
    found: [],
    accepted: [],
    ended: undefined,
    isSuperseded: false,
  };
  const rowsNow = () => tables.names().flatMap((one) => (isLedger(one) ? [] : tables.get(one)!.rows));
  if (order.direction === "down" && !order.acceptLoss) run.found = rowsNow();
  let planned: readonly Row[] = [];
  scene.runs.push(run);
  const carry = carryFor(machine, {
    world,
    chance,
    model,
    weather,
    lease: scene.lease,
    cut: scene.cut,
    // Some wait for less than an action takes, and then hear of it no more.
    limit: scene.lease * (weather.slow > 0 ? chance.pick([0.5, 1, 10]) : 10),
    refuses: (action) => scene.refused.has(refusedAs(action)),
    meetsAppends: (action) => meetsAppends(action, tables),
    decided: (action) => {
      // Its sender can have known that the lease is another's; a question may be asked all the same.
      const isCareless = ownerOf(tables) !== name;
      return () => watch(scene, action, run, isCareless);
    },
    watcher,
  });
  const target = memoryTarget({
    name: model,
    model,
    tables,
    carry,
    clock: machine.clock,
    tear: application.tear,
    counts: order.direction === "down",
    watch: watchOf(scene, name),
  });
  const options: MigratorOptions = {
    target,
    migrations: sourceOf(scene.migrations.slice(0, files)),
    ledger,
    computing: embed.computing,
    lease: { duration: lease, patience },
    clock: machine.clock,
    runner: { by: name, run: name, tool: "simulator" },
    signal: machine.signal,
    emit(event) {
      if (event.event === "accepted") run.accepted.push(event.words);
      if (event.event === "planned") run.outdated = run.outdated.filter((name) => run.boundTo?.has(name));
      tell(() => `   ${name}: ${JSON.stringify(event)}`);
      if (event.event === "unkept") scene.unkept.push(unkeptText(event));
    },
  };
  const whenSaved = (plan: SavedPlan) => {
    bind(run, tables, plan);
    planned = rowsNow();
  };
  // A saved plan accepts the loss of the rows that existed when it was saved.
  const whenBegun = () => {
    run.outdated = [...run.boundTo!].flatMap(([name, born]) =>
      (tables.get(name)?.born ?? born) === born ? [] : [name],
    );
    if (order.direction === "down" && order.acceptLoss) run.found = rowsNow().filter((row) => !planned.includes(row));
  };
  carryOut(order, options, goal, whenSaved, whenBegun).then(
    (result) => end(scene, run, { result }),
    (error: unknown) => end(scene, run, { error }),
  );
  return run;
}

function watchOf({ careless, application }: Scene, name: string): TargetWatch {
  let newest = 0;
  // A write that gets no answer is repeated, whatever was read since.
  const begun = new Set<unknown>();
  return {
    read(epochs) {
      newest = Math.max(newest, ...epochs);
    },
    // A run that has read of a newer epoch does not begin its own: the newer one may have been taken without what that refers to.
    written({ number, event, epoch }) {
      if (number !== 1 || event === "late" || begun.has(epoch)) return;
      begun.add(epoch);
      if (Number(epoch) < newest) careless.push(`${name} begins epoch ${epoch}, and has read of epoch ${newest}`);
    },
    released: application.afterRelease,
  };
}

function end({ tables, watcher }: Scene, run: SimulatedRun, ended: NonNullable<SimulatedRun["ended"]>): void {
  run.ended = ended;
  const hasTaken = ledgerRows(tables).some((row) => row.number === 0 && row.run === run.machine.name);
  run.isSuperseded = hasTaken && ownerOf(tables) !== run.machine.name;
  run.machine.end();
  const words = () =>
    "error" in ended ? wordsOf(ended.error) : `changed ${ended.result.changed}, ${ended.result.total} are applied`;
  watcher.tell(() => `   ${run.machine.name} ends: ${words()}`);
}

/** What a rollback that needs a version says of it, where it was gone before it could be kept. */
function unkeptText({ version, table, problem }: Extract<RunEvent, { readonly event: "unkept" }>): string {
  return `${formatVersion(version)} ${table}: ${problem}`;
}

function renamedBy(action: Action): string | undefined {
  const renames = action.kind === "alterColumns" && action.alterations.some(({ rename }) => rename !== undefined);
  return renames ? action.table : undefined;
}

/** Remembers which tables the plan of a run was made for. */
function bind(run: SimulatedRun, tables: MemoryTables, plan: SavedPlan): void {
  run.boundTo = new Map();
  for (const [name, version] of Object.entries(plan.tables)) {
    const table = tables.get(name);
    if (version !== null && table !== undefined) run.boundTo.set(name, table.born);
  }
}

/** Follows an action from when it reaches the tables to when it has taken effect. */
function watch(scene: Scene, action: Action, run: SimulatedRun, isCareless: boolean) {
  const { tables, late, strays, careless, watcher, application } = scene;
  const { machine: sender, order, boundTo } = run;
  const { table } = action;
  const inTime = ownerOf(tables) === sender.name;
  let before = tables.get(table);
  // A table is dropped or renamed by its name: nothing can tell that it was recreated after the last look.
  const byName = action.kind === "dropTable" || action.kind === "renameTable" ? before : undefined;
  application.meanwhile(action);
  return {
    ends() {
      before = tables.get(table);
    },
    done(isGivenUp: boolean) {
      const after = tables.get(table);
      const bound = boundTo?.get(table);
      const meant = byName ?? before;
      if (bound !== undefined && meant !== undefined && meant.born !== bound && before?.effects !== after?.effects)
        run.strayed.push(table);
      scene.repeated ||= isGivenUp && changesRows(action);
      // What the run at work has replaced is what each plan of the same migrations was made for.
      const isMeant = replacesTable.has(action.kind) && before?.born !== after?.born && ownerOf(tables) === sender.name;
      for (const one of isMeant ? scene.runs : [])
        if (one.order.direction === order.direction)
          for (const name of tablesOfAction(action)) one.boundTo?.delete(name);
      const losses = lossesOf(
        action,
        sender,
        before,
        tables,
        order.acceptLoss,
        isAsking(scene) || order.acceptLoss ? run.found : [],
        application.hasRemoved,
      );
      for (const { what } of losses) watcher.tell(() => `   ${sender.name}: ${what}`);
      // A column that is dropped takes with it what was set of it.
      if (isDrop(action)) scene.losses = scene.losses.filter((one) => one.table !== table || one.column === undefined);
      scene.losses = [...scene.losses, ...losses];
      const putsBack = action.kind === "putBackRows" && after?.rows !== before?.rows;
      const isIdle =
        after?.effects === before?.effects && canonicalJson(after?.indexes) === canonicalJson(before?.indexes);
      if (isIdle && !putsBack) return;
      const isOwner = ownerOf(tables) === sender.name;
      if (action.kind === "createIndex" && (isGivenUp || !isOwner)) {
        watcher.count("stray");
        strays.add(action.name);
      }
      if (isOwner) return;
      if (!inTime) watcher.count("late");
      if (isCareless) careless.push(`${sender.name} sends ${action.kind} ${table} when another has taken the lease`);
      late.push({ sender, table, arrivedInTime: inTime, renamed: renamedBy(action) });
    },
  };
}

function isDrop({ kind }: Action): boolean {
  return kind === "dropColumns" || kind === "dropTable" || kind === "restoreTable";
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

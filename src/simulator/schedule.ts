/** One schedule: some runs at once on machines that meet with trouble, then runs that meet with none, and what has to hold. */
import { canonicalJson } from "../migrations/checksum.ts";
import type { MigrationFile } from "../migrations/files.ts";
import type { Migration } from "../migrations/load.ts";
import type { MigrationSource } from "../migrations/source.ts";
import { up } from "../run/migrator.ts";
import type { Action } from "../schema/action.ts";
import { guardColumn, keepsOut } from "../schema/actions/guard.ts";
import { abilitiesOf, memoryTarget } from "../targets/memory/memory.ts";
import { memoryTables, type MemoryTables } from "../targets/memory/tables.ts";
import { isFenced } from "../targets/target.ts";
import { chanceOf, type Chance } from "./chance.ts";
import { checkAfterTrouble, checkAtEnd, checkEnding, checkLateness, isHarmed, unsaid } from "./invariants.ts";
import { ledgerFindings, ownerOf } from "./ledger-view.ts";
import { aMachine, type Machine, type Trouble } from "./machine.ts";
import { carryFor } from "./network.ts";
import { referenceOf } from "./reference.ts";
import { isLedger, ledger, longWait, wordsOf, type Scenario, type Scene, type SimulatedRun } from "./scene.ts";
import { calm, drawFate, drawTrouble, drawWeather } from "./weather.ts";
import { blind, type Watcher } from "./watcher.ts";
import { aWorld } from "./world.ts";

/** What does not hold, in words, or undefined. */
export async function runSchedule(
  seed: number,
  scenario: (chance: Chance) => Scenario,
  watcher: Watcher = blind,
): Promise<string | undefined> {
  const scene = aScene(seed, scenario, watcher);
  const { chance, world, lease, migrations, beside, refused, runs, tables } = scene;
  // A database that has a history: trouble comes with what is new.
  const old = beside?.after ?? (chance.happens(0.3) ? chance.below(migrations.length) : 0);
  const longest = 4 * lease;
  const before = old === 0 ? undefined : await runCalmly(scene, "first run", old, longest);
  if (typeof before === "string") return before;
  for (const action of beside?.actions ?? []) tables.carryOut(action);
  const count = chance.pick([1, 1, 2, 2, 3, 4, 5]);
  // Markers have to have heard of the longest lease (docs/ledger.md).
  const mayDiffer = scene.model !== "service" || old > 0;
  const fate = drawFate(chance);
  for (let index = 0; index < count; index++) {
    const files = chance.happens(0.85) ? migrations.length : Math.max(old, 1) + chance.below(migrations.length - old);
    const own = mayDiffer ? chance.pick([lease, lease, lease, 2 * lease, longest]) : lease;
    const patience = chance.pick([0, lease, longWait * lease, longWait * lease]);
    const trouble = drawTrouble(chance, lease, fate);
    world.after(chance.happens(0.5) ? 0 : chance.between(0, 3 * lease), () =>
      start(scene, { name: `run ${index + 1}`, files, lease: own, patience, trouble, weather: scene.weather }),
    );
  }
  writeBeside(scene);
  if (!(await world.run())) return "somebody waits for ever: there is no end of asking";
  for (const run of runs) {
    const violation = checkEnding(scene, run);
    if (violation !== undefined) return violation;
  }
  const violation = checkLateness(scene) ?? (await checkAfterTrouble(scene));
  if (violation !== undefined) return violation;

  for (const standsInTheWay of [true, false]) {
    if (!standsInTheWay) refused.clear();
    if (standsInTheWay && refused.size === 0) continue;
    const found = await runCalmly(scene, standsInTheWay ? "run beside the data" : "last run");
    if (typeof found === "string") return found;
    if (isHarmed(scene, found)) {
      scene.watcher.count("harmed");
      return undefined;
    }
    const problem = checkAtEnd(scene, found, standsInTheWay);
    if (problem !== undefined) return problem;
  }
  if (unsaid(scene)) scene.watcher.count("harmed");
  return await checkNothingPending(scene);
}

function aScene(seed: number, scenario: (chance: Chance) => Scenario, { tell, count }: Watcher): Scene {
  const chance = chanceOf(seed);
  const world = aWorld();
  const drawn = scenario(chance);
  const reference = referenceOf(drawn, abilitiesOf(drawn.model));
  // What an application builds upon is there.
  const early = new Set(drawn.migrations.slice(0, drawn.beside?.after ?? 0).map(({ version }) => version));
  const [sure, others] = [true, false].map((isEarly) =>
    reference.actions.flatMap(({ version, commits }) => (early.has(version) === isEarly ? commits : [])),
  );
  const canBeRefused = others!.filter((action) => dependsOnData(action) && !sure!.some((one) => isSame(one, action)));
  const refused = new Set<string>();
  if (canBeRefused.length > 0 && chance.happens(0.25)) refused.add(refusedAs(chance.pick(canBeRefused)));
  return {
    ...drawn,
    world,
    chance,
    tables: memoryTables(),
    reference,
    weather: drawWeather(chance),
    lease: chance.pick([1_000, 3_000]),
    refused,
    runs: [],
    late: [],
    watcher: { count, tell: (what) => tell(() => `${(world.now() / 1_000).toFixed(3)} ${what()}`) },
  };
}

function isSame(one: Action, other: Action): boolean {
  return canonicalJson(one) === canonicalJson(other);
}

function dependsOnData(action: Action): boolean {
  switch (action.kind) {
    case "alterColumns":
      return action.alterations.some(({ type, nullable }) => type !== undefined || nullable === false);
    case "addColumns":
      return action.columns.some(({ as }) => as !== undefined);
    default:
      return action.kind === "createIndex" || action.kind === "updateRows";
  }
}

/** What data stands in the way of it: a guard has the same value in every row. */
function refusedAs(action: Action): string {
  if (action.kind !== "addColumns" || action.columns.length === 1) return canonicalJson(action);
  return canonicalJson({ ...action, columns: action.columns.filter(({ name }) => name !== guardColumn.name) });
}

/** What writes new files for the rows that are there, on a table from which appends are not kept out. */
function meetsAppends(action: Action, tables: MemoryTables): boolean {
  const table = tables.get(action.table);
  if (table === undefined || keepsOut(table)) return false;
  return (
    action.kind === "addColumns" ||
    (action.kind === "alterColumns" && action.alterations.some(({ type }) => type !== undefined))
  );
}

interface Start extends Pick<SimulatedRun, "files" | "lease" | "patience" | "trouble" | "weather"> {
  readonly name: string;
}

const untroubled: Trouble = { mishaps: [], clockStops: false, offset: 0 };

function start(scene: Scene, { name, files, lease, patience, trouble, weather }: Start): SimulatedRun {
  const { world, chance, tables, model, watcher } = scene;
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
  up({
    target,
    migrations: sourceOf(scene.migrations.slice(0, files)),
    ledger,
    lease: { duration: lease, patience },
    clock: machine.clock,
    runner: { by: name, run: name, tool: "simulator" },
    signal: machine.signal,
    emit: (event) => tell(() => `   ${name}: ${JSON.stringify(event)}`),
  }).then(
    (result) => end(run, { result }, tell),
    (error: unknown) => end(run, { error }, tell),
  );
  return run;
}

function end(run: SimulatedRun, ended: NonNullable<SimulatedRun["ended"]>, tell: Watcher["tell"]): void {
  run.ended = ended;
  run.machine.end();
  const words = () =>
    "error" in ended ? wordsOf(ended.error) : `applied ${ended.result.applied} of ${ended.result.total}`;
  tell(() => `   ${run.machine.name} ends: ${words()}`);
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
      if (!isFenced(action.kind, abilitiesOf(model))) late.push({ sender, arrivedInTime: inTime });
    },
  };
}

/** Somebody else appends rows now and then, which makes versions. */
function writeBeside({ chance, world, tables, lease }: Scene): void {
  const times = chance.pick([0, 0, 0, 5, 20]);
  for (let count = 0; count < times; count++)
    world.after(chance.between(0, 6 * lease), () => {
      const others = tables.names().filter((name) => !isLedger(name));
      if (others.length > 0) tables.append(chance.pick(others), []);
    });
}

async function runCalmly(
  scene: Scene,
  name: string,
  files = scene.migrations.length,
  lease = scene.lease,
): Promise<SimulatedRun | string> {
  const { world } = scene;
  const patience = 100 * scene.lease;
  const run = start(scene, { name, files, lease, patience, trouble: untroubled, weather: calm });
  if (!(await world.run()) || run.ended === undefined) return `${name} waits for ever`;
  return run;
}

async function checkNothingPending(scene: Scene): Promise<string | undefined> {
  const { tables } = scene;
  const versions = () => JSON.stringify(tables.names().map((name) => [name, tables.get(name)!.version]));
  const before = versions();
  const run = await runCalmly(scene, "run with nothing to do");
  if (typeof run === "string") return run;
  const { ended } = run;
  if (ended === undefined || "error" in ended || ended.result.applied !== 0)
    return `a run with nothing to do ends otherwise: ${ended !== undefined && "error" in ended ? wordsOf(ended.error) : "it applied something"}`;
  if (versions() !== before) return "a run with nothing to do has written something";
  const [finding] = await ledgerFindings(tables, scene.model);
  return finding && `an audit of the ledger finds: ${finding}`;
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

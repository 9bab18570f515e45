/** One schedule: some runs at once on machines that meet with trouble, then runs that meet with none, and what has to hold. */
import { canonicalJson } from "../../src/migrations/checksum.ts";
import type { Action } from "../../src/actions/model/action.ts";
import { abilitiesOf } from "./target/memory-target.ts";
import type { Model } from "./target/carry.ts";
import { memoryTables } from "./target/memory-tables.ts";
import { anApplication, drawDisturbances, type Disturbance } from "./application.ts";
import { runCalmly, runWithWaysOut, upwards } from "./calm-runs.ts";
import { chanceFor, chanceOf, type Chance } from "./seeded-random.ts";
import {
  checkAfterTrouble,
  checkAsked,
  checkAtEnd,
  checkEnding,
  checkLateness,
  isDamaged,
  isHarmed,
  unsaid,
} from "./invariants.ts";
import { referenceBack, referenceOf, rollbacksOf } from "./reference-model.ts";
import { longWait, type Scene } from "./schedule-state.ts";
import { type Goal, drawOrders } from "./run-variants.ts";
import { isLedger, type Scenario } from "./scenario.ts";
import { refusedAs, start } from "./start-run.ts";
import { checkDamage, checkNothingPending } from "./round-trip.ts";
import { drawCuts, drawFate, drawStopsAtRecords, drawTrouble, drawWeather } from "./draw-faults.ts";
import { blind, type Watcher } from "./observer.ts";
import { aWorld } from "./virtual-time.ts";

/** What does not hold, in words, or undefined. */
export async function runSchedule(
  seed: number,
  scenario: (chance: Chance, seed: number) => Scenario,
  watcher: Watcher = blind,
): Promise<string | undefined> {
  const scene = aScene(seed, scenario, watcher);
  const { chance, world, lease, migrations, beside, refused, runs, tables, goal } = scene;
  const isBack = goal.backTo !== undefined;
  // A database that has a history: trouble comes with what is new.
  const old = beside?.after ?? (chance.happens(0.3) ? chance.below(migrations.length) : 0);
  const longest = 4 * lease;
  const before =
    old === 0 ? undefined : await runCalmly(scene, "first run", { order: upwards, files: old, lease: longest });
  if (typeof before === "string") return before;
  for (const action of beside?.actions ?? []) tables.carryOut(action);
  const all = isBack ? await runCalmly(scene, "run before", { order: upwards }) : undefined;
  if (typeof all === "string") return all;
  const count = chance.pick([1, 1, 2, 2, 3, 4, 5]);
  // Markers have to have heard of the longest lease (docs/internals/ledger.md).
  const mayDiffer = scene.model !== "service" || old > 0;
  const fate = drawFate(chance, isBack);
  const stopsAtRecords = drawStopsAtRecords(seed, lease, isBack);
  // Where some runs apply what others roll back, they mostly come after those, and a crash loop often befalls them alone.
  const turns = chanceFor("turns", seed);
  const spared = scene.orders.has("opposite") && turns.happens(0.5) ? "down" : undefined;
  for (let index = 0; index < count; index++) {
    const isWhole = chance.happens(0.85) || isBack;
    const files = isWhole ? migrations.length : Math.max(old, 1) + chance.below(migrations.length - old);
    const own = mayDiffer ? chance.pick([lease, lease, lease, 2 * lease, longest]) : lease;
    const patience = chance.pick([0, lease, longWait * lease, longWait * lease]);
    const order = scene.orders.next();
    const drawn = drawTrouble(chance, lease, order.direction === spared ? undefined : fate, order.direction === "down");
    const trouble = { ...drawn, mishaps: [...drawn.mishaps, ...stopsAtRecords()] };
    const turn = isBack && order.direction === "up" ? turns.between(0, 10 * lease) : 0;
    world.after(turn + (chance.happens(0.5) ? 0 : chance.between(0, 3 * lease)), () =>
      start(scene, { name: `run ${index + 1}`, files, lease: own, patience, trouble, weather: scene.weather, order }),
    );
  }
  writeBeside(scene);
  scene.application.begin(6 * lease);
  if (!(await world.run())) return "somebody waits for ever: there is no end of asking";
  scene.application.end();
  for (const run of runs) {
    const violation = checkEnding(scene, run);
    if (violation !== undefined) return violation;
  }
  const wrong = checkLateness(scene) ?? checkAsked(scene);
  if (wrong !== undefined) return wrong;
  if (scene.losses.some(({ isLost }) => isLost())) scene.watcher.count("loud");
  // Nobody can repair it, and no migration is asked to.
  if (isDamaged(scene)) return await checkDamage(scene);
  const violation = await checkAfterTrouble(scene);
  if (violation !== undefined) return violation;

  for (const standsInTheWay of [true, false]) {
    if (!standsInTheWay) refused.clear();
    if (standsInTheWay && refused.size === 0) continue;
    const found = await runWithWaysOut(scene, standsInTheWay ? "run beside the data" : "last run");
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

function aScene(seed: number, scenario: (chance: Chance, seed: number) => Scenario, { tell, count }: Watcher): Scene {
  const chance = chanceOf(seed);
  const world = aWorld();
  const drawn = scenario(chance, seed);
  const tables = memoryTables({ now: () => 1_750_000_000_000 + Math.floor(world.now()) });
  const goal = drawGoal(chance, drawn);
  const forward = referenceOf(drawn, abilitiesOf(drawn.model));
  const reference = goal.backTo === undefined ? forward : referenceBack(drawn, abilitiesOf(drawn.model), goal.backTo);
  // What an application builds upon is there.
  const early = new Set(drawn.migrations.slice(0, drawn.beside?.after ?? 0).map(({ version }) => version));
  const [sure, others] = [true, false].map((isEarly) =>
    reference.actions.flatMap(({ version, commits }) => (early.has(version) === isEarly ? commits : [])),
  );
  // All of it has run when something is rolled back.
  const ran = goal.backTo === undefined ? [] : forward.actions.flatMap(({ commits }) => commits);
  const canBeRefused = others!.filter(
    (action) => dependsOnData(action) && ![...sure!, ...ran].some((one) => isSame(one, action)),
  );
  const refused = new Set<string>();
  if (canBeRefused.length > 0 && chance.happens(0.25)) refused.add(refusedAs(chance.pick(canBeRefused)));
  const [weather, lease] = [drawWeather(chance, seed, drawn.model), chance.pick([1_000, 3_000])];
  const told: Watcher = { count, tell: (what) => tell(() => `${(world.now() / 1_000).toFixed(3)} ${what()}`) };
  const does = drawDisturbances(seed, goal.backTo !== undefined, (one) => suits(one, drawn.model, goal));
  return {
    ...drawn,
    world,
    chance,
    tables,
    goal,
    orders: drawOrders(seed, goal, lease),
    reference,
    weather,
    cut: drawCuts(seed, drawn.model, lease),
    sleepers: new Set(),
    lease,
    refused,
    runs: [],
    late: [],
    strays: new Set(),
    losses: [],
    careless: [],
    unkept: [],
    turned: false,
    repeated: false,
    application: anApplication({ seed, world, tables, watcher: told, does, lease }),
    watcher: told,
  };
}

function suits(one: Disturbance, model: Model, { backTo }: Goal): boolean {
  switch (one) {
    case "tornLists":
      return model === "service";
    // A service has no fence, and a call whose answer is lost is not compared with the version before it.
    case "metadata":
      return model === "embedded";
    // The versions that a rollback would restore went with the table.
    case "recreation":
      return backTo === undefined;
    default:
      return true;
  }
}

/** Some schedules roll back what can be: all above a version. */
function drawGoal(chance: Chance, scenario: Scenario): Goal {
  const { migrations, model } = scenario;
  const isBack = chance.happens(0.3);
  // What an application has built upon stays.
  const most = migrations.length - (scenario.beside?.after ?? 0);
  const back = isBack ? rollbacksOf(scenario, abilitiesOf(model)).slice(0, most) : [];
  if (back.length === 0) return { backTo: undefined, total: migrations.length };
  const total = migrations.length - 1 - chance.below(back.length);
  return { backTo: migrations[total - 1]?.version ?? 0, total };
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

/** Somebody else appends rows now and then, which makes versions. */
function writeBeside({ chance, world, tables, lease }: Scene): void {
  const times = chance.pick([0, 0, 0, 5, 20]);
  for (let count = 0; count < times; count++)
    world.after(chance.between(0, 6 * lease), () => {
      const others = tables.names().filter((name) => !isLedger(name));
      if (others.length > 0) tables.append(chance.pick(others), []);
    });
}

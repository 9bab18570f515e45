/** What runs are asked to do: most apply what is pending, or roll it back with all consent; some schedules have others. */
// Runs load it when they need it. That takes real time, for which virtual time does not wait.
import "../../src/commands/settle.ts";
import { down, type DownChoice } from "../../src/commands/down.ts";
import { up } from "../../src/commands/up.ts";
import { savePlan, savePlanDown } from "../../src/commands/plan.ts";
import type { SavedPlan } from "../../src/plan/document/saved-plan.ts";
import type { MigratorOptions } from "../../src/run/run-context.ts";
import { chanceFor, type Chance } from "./seeded-random.ts";

/** How often each is drawn, of all schedules. */
const rates = {
  /** Of runs that roll back, others apply everything again. */
  opposite: 0.3,
  /** Runs save their plans first, and carry out just those. */
  saved: 0.3,
  /** Runs that roll back accept no loss. */
  careful: 0.6,
} as const;
/** The share of runs that reinsert rows, of those that accept no loss. */
const keeping = 0.6;
export type Variety = keyof typeof rates;

/** What one run is asked to do. */
export interface Order {
  readonly direction: "up" | "down";
  readonly acceptLoss: boolean;
  /** Whether rows that were added are reinserted; never where a loss is accepted. */
  readonly reinsert?: boolean | undefined;
  /** Milliseconds between the plan and the run that carries it out; undefined where no plan is saved. */
  readonly savedFor: number | undefined;
  /** Whether it may run migrations as groups. */
  readonly grouped: boolean;
}

export interface Orders {
  /** Whether some runs may run migrations as groups. Then the tables may never be as between two migrations. */
  readonly grouped: boolean;
  readonly has: (one: Variety) => boolean;
  readonly next: () => Order;
}

/** It draws from numbers of its own, so that a schedule without any of these goes as it would without them. */
export function drawOrders(seed: number, { backTo }: Goal, lease: number): Orders {
  const chance = chanceFor("orders", seed);
  const isBack = backTo !== undefined;
  const drawn = new Set(Object.entries(rates).flatMap(([one, rate]) => (chance.happens(rate) ? [one] : [])));
  const has = (one: Variety) => drawn.has(one) && (isBack || one === "saved");
  const kept = chanceFor("kept rows", seed);
  const group = chanceFor("groups", seed);
  const grouped = group.happens(0.3);
  const next = (): Order => {
    const order = drawOrder(chance, has, isBack, lease);
    const mayGroup = grouped && group.happens(0.8);
    return { ...order, reinsert: !order.acceptLoss && kept.happens(keeping), grouped: mayGroup };
  };
  return { has, next, grouped };
}

function drawOrder(chance: Chance, has: Orders["has"], isBack: boolean, lease: number): Omit<Order, "grouped"> {
  return {
    direction: !isBack || (has("opposite") && chance.happens(0.5)) ? "up" : "down",
    acceptLoss: !(has("careful") && chance.happens(0.7)),
    savedFor: has("saved") && chance.happens(0.5) ? chance.between(0, lease) : undefined,
  };
}

/** Carries out the order. `whenSaved`: called when the plan is saved, where one is. */
export async function carryOut(
  { direction, acceptLoss, reinsert, savedFor, grouped }: Order,
  options: MigratorOptions,
  { backTo }: Goal,
  whenSaved: (plan: SavedPlan) => void,
  whenBegun: () => void,
): Promise<RunResult> {
  const accept = acceptLoss ? (["lossy"] as const) : [];
  const choice: DownChoice = { to: backTo, accept, ...(reinsert === true && { reinsert }) };
  const isUp = direction === "up";
  let given: Parameters<typeof up>[1] & DownChoice = isUp ? { stepByStep: !grouped } : choice;
  if (savedFor !== undefined) {
    const plan = isUp ? await savePlan(options) : await savePlanDown(options, choice);
    given = { plan };
    whenSaved(plan);
    await options.clock!.sleep(savedFor);
    whenBegun();
  }
  if (isUp) {
    const { applied, total } = await up(options, given);
    return { changed: applied, total };
  }
  const { reverted, total } = await down(options, given);
  return { changed: reverted, total };
}

/** What the runs are for. */
export interface Goal {
  /** The version that everything above is rolled back of; undefined to apply everything. */
  readonly backTo: number | undefined;
  /** How many migrations are applied in the end. */
  readonly total: number;
}

/** What a run in either direction gives. */
export interface RunResult {
  /** How many migrations it applied, or rolled back. */
  readonly changed: number;
  readonly total: number;
}

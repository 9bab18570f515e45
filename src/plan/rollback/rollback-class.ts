/** Classifies how each action of a plan would be rolled back, before it runs. Pure. */
import type { Action } from "../../actions/model/action.ts";
import { describeAction } from "../../actions/apply-action.ts";
import type { Database } from "../../schema/table.ts";
import type { Inverse } from "../../actions/model/inverse.ts";
import { kindOf } from "./blocker-kinds.ts";
import { oneByOne } from "../compile/undescribed.ts";
import { missingCall, type Able, type PlacedAction } from "../compile/compile.ts";
import type { Lineage } from "../../actions/follow.ts";
import type { RollbackClass } from "./rollback-classes.ts";
import { actionsOn, lostIn, unrestorable, inversesOf, withOwnRows, type RanAction } from "./restore-table.ts";

export interface ActionRollback {
  readonly class: RollbackClass;
  /** The actions that roll it back, in order. Empty if there are none, or if the table is rolled back as a whole. */
  readonly actions: readonly Action[];
  /** The rollback as text. */
  readonly text: string;
  /** What may block the rollback, or why there is none, or none by actions. */
  readonly reason: string | undefined;
  /** The table of which an old version is restored, by its name before the migration. */
  readonly restores?: string | undefined;
}

/**
 * The rollback of each of a migration's actions, in their order. `before`: the tables before the first of them.
 * `lineages`: which tables they are about.
 */
export function classify(
  actions: readonly PlacedAction[],
  lineages: readonly Lineage[],
  before: Database,
  able: Able,
): readonly ActionRollback[] {
  const all = inversesOf(actions, lineages, new Map(before));
  const lost = lostIn(all);
  return all.map((one) =>
    lost.has(one.lineage) ? classOfTable(one, all, able) : classOf(wayOf(one, all, able), able),
  );
}

function none(reason: string): ActionRollback {
  return { class: "none", actions: [], text: "", reason };
}

/** The inverse. Rows that the migration wrote to a table which it created do not block it. */
function wayOf({ way, lineage }: RanAction, all: readonly RanAction[], { actions }: Able): Inverse {
  const able = actions.restoreTable === true;
  return "lost" in way ? way : withOwnRows(way, actionsOn(lineage, all), { able, tables: {} });
}

/** The rollback of an action on a table of which the migration loses something. */
function classOfTable(one: RanAction, all: readonly RanAction[], able: Able): ActionRollback {
  const { way, lineage, action } = one;
  const { origin } = lineage;
  if (origin === undefined && action.kind === "createTable" && lineage.last !== undefined)
    return classOf(wayOf(one, all, able), able);
  if (origin === undefined) return { class: "exact", actions: [], text: "goes with the table", reason: undefined };
  const restoring = { able: able.actions.restoreTable === true };
  const problem = all
    .filter((one) => one.lineage === lineage)
    .map((one) => unrestorable(one, restoring))
    .find((reason) => reason !== undefined);
  if (problem !== undefined) return "lost" in way ? none(way.lost) : classOf(way, able);
  const text = `restore ${origin} as it was before`;
  return { class: "restore", actions: [], text, reason: "lost" in way ? way.lost : undefined, restores: origin };
}

function classOf(way: Inverse, { actions: able, describes }: Able): ActionRollback {
  if ("lost" in way) return none(way.lost);
  const actions = describes ? way.actions : way.actions.flatMap(oneByOne);
  const missing = actions.map((one) => missingCall(one, able)).find((reason) => reason !== undefined);
  if (missing !== undefined) return none(missing);
  const text = actions.length === 0 ? "nothing to roll back" : actions.map(describeAction).join(", then ");
  if (way.blockers.length === 0) return { class: "exact", actions, text, reason: undefined };
  return { class: "checked", actions, text, reason: way.blockers.map((one) => kindOf(one).condition(one)).join(", ") };
}

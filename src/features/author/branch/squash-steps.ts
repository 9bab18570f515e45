/** Combines the steps of migrations into fewer ones that lead to the same tables and inserted rows. Pure. */
import type { Migration } from "../../../migrations/load.ts";
import { differences, type Database } from "../../../schema/table.ts";
import type { Step } from "../../../steps/registry.ts";
import { adopt } from "../adopt/adopt-tables.ts";
import { actionsOf, type Describing } from "../../../plan/compile/compile.ts";
import { replayOn } from "../../../plan/history/replay.ts";
import { lineagesOf } from "../../../actions/follow.ts";
import { differencesBetween } from "./rebase-steps.ts";

export interface Squash {
  readonly steps: readonly Step[];
  /** Tables whose steps stay as they were, because some of these insert rows. */
  readonly kept: readonly string[];
  /** What no step recreates on an empty table, as text. */
  readonly left: readonly string[];
  /** The tables of which `left` lists something, apart from postponed vector indexes. */
  readonly partial: ReadonlySet<string>;
  /** How the combined steps lead to something else; empty unless `squash` has a defect. */
  readonly differences: readonly string[];
}

export function squash(migrations: readonly Migration[], capabilities: Describing): Squash {
  const steps = migrations.flatMap((migration) => migration.steps);
  const wanted = after(steps, capabilities);
  const withRows = stepsWithRows(steps, capabilities);
  const kept = after(withRows, capabilities);
  const others = new Map([...wanted].filter(([name]) => !kept.has(name)));
  const { steps: made, left, partial } = adopt(new Map(), others, { takesEngines: true });
  // Before they are renamed, tables with rows may have names that other tables have at the end.
  const together = [...withRows, ...made];
  const reached = after(together, capabilities);
  return {
    steps: together,
    kept: [...kept.keys()],
    left,
    partial,
    differences: differencesOf(wanted, reached, partial),
  };
}

function after(steps: readonly Step[], capabilities: Describing): Database {
  return replayOn(new Map(), [{ file: "", steps }], capabilities);
}

/** All steps of the final tables that were given rows: what later steps did to these rows cannot be determined. */
function stepsWithRows(steps: readonly Step[], capabilities: Describing): readonly Step[] {
  const placed = steps.flatMap((step) => actionsOf(step, capabilities).map((action) => ({ step, action })));
  const lineages = lineagesOf(placed.map(({ action }) => action));
  const rows = new Set(
    placed.flatMap(({ action }, index) => {
      const gives = action.kind === "insertRows" || (action.kind === "createTable" && (action.rows ?? []).length > 0);
      return gives && lineages[index]!.last !== undefined ? [lineages[index]!] : [];
    }),
  );
  return [...new Set(placed.flatMap(({ step }, index) => (rows.has(lineages[index]!) ? [step] : [])))];
}

/** Tables in `partial` may lack indexes and metadata, because no step makes these on empty tables. */
function differencesOf(wanted: Database, reached: Database, partial: ReadonlySet<string>): readonly string[] {
  const all = [...new Set([...wanted.keys(), ...reached.keys()])];
  return all.flatMap((name) => {
    const compare = partial.has(name) ? differences : differencesBetween;
    return compare(reached.get(name), wanted.get(name)).map((difference) => `${name}: ${difference}`);
  });
}

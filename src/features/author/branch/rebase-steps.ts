/** Rewrites a branch's migrations to run after the incoming ones, and finds out whether the order matters. Pure. */
import { MigrateError, problemIn } from "../../../errors/migrate-error.ts";
import { canonicalJson } from "../../../migrations/checksum.ts";
import { formatMigration } from "../../../migrations/file-name.ts";
import type { Migration } from "../../../migrations/load.ts";
import type { Action } from "../../../actions/model/action.ts";
import { applyActions, changesRows } from "../../../actions/apply-action.ts";
import { parsePath } from "../../../schema/path.ts";
import { differences, type Database, type Table } from "../../../schema/table.ts";
import { moveStep, type Step } from "../../../steps/registry.ts";
import { actionsOf, compileMigration, type Describing } from "../../../plan/compile/compile.ts";
import { withPlace } from "../../../plan/compile/replay.ts";
import { replayOn } from "../../../plan/history/replay.ts";
import { lineagesOf } from "../../../actions/follow.ts";
import { inOrderOf } from "../generate/order-steps.ts";
import { nameMapAfter, type NameMap } from "./map-names.ts";

export interface Branches {
  /** The tables that both sides began with. */
  readonly base: Database;
  readonly incoming: readonly Migration[];
  readonly own: readonly Migration[];
  readonly capabilities: Describing;
}

export interface MovedMigration {
  readonly migration: Migration;
  readonly steps: readonly Step[];
  readonly down: readonly Step[] | undefined;
}

export interface Rebase {
  readonly moved: readonly MovedMigration[];
  /** Why the result differs if the branch's own migrations ran first; empty if it is the same. */
  readonly apart: readonly string[];
  /** Harmless differences between the two orders, as text. */
  readonly notes: readonly string[];
}

/**
 * Throws ERR_REBASE if an own migration can't run after the incoming ones, and ERR_STEP_IMPOSSIBLE if own steps fail
 * even without those.
 */
export function rebase(branching: Branches): Rebase {
  const { incoming, own, base, capabilities } = branching;
  replayOn(base, own, capabilities);
  const first = firstBad(incoming, (some) => problemIn(() => moveAll({ ...branching, incoming: some }))?.message);
  if (first !== undefined) throw new MigrateError("ERR_REBASE", first);
  const moved = moveAll(branching);
  const apart = firstBad(incoming, (some) => orderProblem({ ...branching, incoming: some }));
  if (apart !== undefined) return { moved, apart: [`${apart.problem} (${apart.migration})`], notes: [] };
  return { moved, apart: [], notes: orderDifferences(branching, moved) };
}

/** The differences between the tables after the two orders, as text. `alike`: the second table as it is compared. */
function orderDifferences(
  { base, incoming, own, capabilities }: Branches,
  moved: readonly MovedMigration[],
  alike: typeof inOrderOf = (_, other) => other,
): readonly string[] {
  const rewritten = moved.map(({ migration, steps }) => ({ ...migration, steps }));
  const one = replayOn(base, [...incoming, ...rewritten], capabilities);
  const other = replayOn(base, [...own, ...incoming], capabilities);
  return [...new Set([...one.keys(), ...other.keys()])].flatMap((name) =>
    differencesBetween(one.get(name), alike(one.get(name), other.get(name))).map(
      (difference) => `${name}: ${difference}`,
    ),
  );
}

/** The differences between two tables. Of indexes and metadata, `differences` reports only what the first one has. */
export function differencesBetween(one: Table | undefined, other: Table | undefined): readonly string[] {
  const found = differences(one, other);
  return found.length > 0 ? found : differences(other, one);
}

/** The first incoming migration with which there is a problem. */
function firstBad(incoming: readonly Migration[], problem: (some: readonly Migration[]) => string | undefined) {
  for (const [index, migration] of incoming.entries()) {
    const found = problem(incoming.slice(0, index + 1));
    if (found !== undefined) return { migration: formatMigration(migration), problem: found };
  }
  return undefined;
}

function moveAll({ base, incoming, own, capabilities }: Branches): readonly MovedMigration[] {
  const others = incoming.flatMap((migration) =>
    compileMigration(migration, capabilities).map(({ action }) => ({ by: formatMigration(migration), action })),
  );
  const names = nameMapAfter(base, others);
  const database = replayOn(base, incoming, capabilities);
  const ups: (readonly Step[])[] = [];
  for (const { file, steps } of own) ups.push(moveSteps(file, steps, names, database, capabilities));
  return own.map((migration, index) => {
    const { file, down } = migration;
    if (down === undefined) return { migration, steps: ups[index]!, down };
    // The steps of `down` use the names after this migration. They get a mapping of their own: rewriting them advances
    // it, which must not affect later migrations.
    const after = nameMapAfter(base, others);
    for (const [at, { steps }] of own.slice(0, index + 1).entries())
      after.advance(actionsOfAll(steps, capabilities), actionsOfAll(ups[at]!, capabilities));
    return { migration, steps: ups[index]!, down: moveSteps(file, down, after, undefined, capabilities, "down") };
  });
}

/** Rewrites steps with the names in `names`. Advances `names`, and `database` if given. */
function moveSteps(
  file: string,
  steps: readonly Step[],
  names: NameMap,
  database: Map<string, Table> | undefined,
  capabilities: Describing,
  of?: "down",
): readonly Step[] {
  return steps.map((step, index) =>
    withPlace({ file, step: index + 1, of, kind: step.kind }, () => {
      const there = moveStep(step, names);
      const actions = actionsOf(there, capabilities);
      if (database !== undefined) applyActions(database, actions);
      names.advance(actionsOf(step, capabilities), actions);
      return there;
    }),
  );
}

function actionsOfAll(steps: readonly Step[], capabilities: Describing): readonly Action[] {
  return steps.flatMap((step) => actionsOf(step, capabilities));
}

/** What the order changes, as text, given incoming migrations that run as written after the branch's own. */
function orderProblem(branching: Branches): string | undefined {
  const { base, incoming, own, capabilities } = branching;
  const there = { base, incoming: own, own: incoming, capabilities };
  const impossible = problemIn(() => moveAll(there));
  if (impossible !== undefined) return impossible.message;
  for (const { migration, steps } of moveAll(there)) {
    const at = steps.findIndex((step, index) => canonicalJson(step) !== canonicalJson(migration.steps[index]));
    if (at !== -1)
      return `${migration.file}, step ${at + 1} (${steps[at]!.kind}) goes by names that are others after the branch's own migrations`;
  }
  const rows = rowsProblem(own, incoming, capabilities);
  if (rows !== undefined) return rows;
  // No step changes the order of columns, and nothing depends on it.
  return orderDifferences(branching, moveAll(branching), inOrderOf)[0];
}

/** Actions of both sides on the same rows, as text: from SQL it cannot be determined whether their order matters. */
function rowsProblem(
  own: readonly Migration[],
  incoming: readonly Migration[],
  capabilities: Describing,
): string | undefined {
  const [ours, theirs] = [own, incoming].map((side) => workOn(side, capabilities)) as [
    readonly TableRebase[],
    readonly TableRebase[],
  ];
  for (const one of ours)
    for (const other of theirs)
      if (one.table === other.table && mayDiffer(one, other))
        return `${one.place} and ${other.place} both work on the rows of ${one.table}`;
  return undefined;
}

interface TableRebase {
  /** The table's name in `base`. */
  readonly table: string;
  readonly place: string;
  /** `strict`: makes a column not null. */
  readonly kind: "sql" | "rows" | "cast" | "strict";
  /** The column that tells rows apart, and its values. */
  readonly key?: string;
  readonly keys: readonly string[];
  /** The top-level columns that are cast, at least in part. */
  readonly cast: readonly string[];
}

function workOn(side: readonly Migration[], capabilities: Describing): readonly TableRebase[] {
  const all = side.flatMap((migration) => compileMigration(migration, capabilities));
  const lineages = lineagesOf(all.map(({ action }) => action));
  return all.flatMap(({ place, action }, index) => {
    const { origin } = lineages[index]!;
    const tables = [origin, action.kind === "populateTable" ? action.from : undefined].filter(
      (one) => one !== undefined,
    );
    return tables.flatMap((table) =>
      kindsOfWork(action).map((kind): TableRebase => {
        const at = { table, place: `${place.file}, step ${place.step}` };
        const none: TableRebase = { ...at, kind, keys: [], cast: [] };
        if (action.kind === "insertRows")
          return { ...none, key: action.key, keys: action.rows.map((row) => JSON.stringify(row[action.key] ?? null)) };
        const cast = action.kind === "alterColumns" ? action.alterations.filter(({ type }) => type !== undefined) : [];
        return { ...none, cast: cast.map(({ path }) => parsePath(path)[0]!) };
      }),
    );
  });
}

function kindsOfWork(action: Action): readonly TableRebase["kind"][] {
  if (action.kind === "insertRows") return ["rows"];
  if (["createIndex", "optimizeTable", "rebuildIndex"].includes(action.kind)) return [];
  if (action.kind === "convertColumn" || changesRows(action)) return ["sql"];
  if (action.kind === "addColumns")
    return action.columns.some(({ as, computed }) => (as ?? computed) !== undefined) ? ["sql"] : [];
  if (action.kind !== "alterColumns") return [];
  return [
    ...(action.alterations.some(({ type }) => type !== undefined) ? ["cast" as const] : []),
    ...(action.alterations.some(({ nullable }) => nullable === false) ? ["strict" as const] : []),
  ];
}

function mayDiffer(one: TableRebase, other: TableRebase): boolean {
  if (one.kind === "sql" || other.kind === "sql") return true;
  // Rows that are the same by one key may differ by another key, or after a cast of the key.
  if (one.kind === "rows" && other.kind === "rows")
    return one.key !== other.key || one.keys.some((key) => other.keys.includes(key));
  return [one, other].some(({ key }) => key !== undefined && [one, other].some(({ cast }) => cast.includes(key)));
}

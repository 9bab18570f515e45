/** What the tables have to be after each action, when every one takes effect once and in its order. */
import { isMigrateError } from "../errors.ts";
import { canonicalJson } from "../migrations/checksum.ts";
import type { Migration } from "../migrations/load.ts";
import { planCommits, type PlannedCommit } from "../plan/commits.ts";
import { compileMigration, type PlacedAction } from "../plan/compile.ts";
import { rollbackOf } from "../plan/rollback.ts";
import { kindsOf, tablesAfter, tablesOfAction, type Action } from "../schema/action.ts";
import { change, type Database, type Table } from "../schema/table.ts";
import { memoryTables, type MemoryTables } from "../targets/memory/tables.ts";
import type { Capabilities } from "../targets/target.ts";
import type { Scenario } from "./scenario.ts";

export interface Reference {
  /** All actions in their order, with the version of the migration and the number in it, counted from 1. */
  readonly actions: readonly ReferenceAction[];
  /** The tables after the first n actions. */
  after(count: number): TablesText;
}

export interface ReferenceAction {
  readonly version: number;
  readonly number: number;
  /** As they are sent to the target. */
  readonly commits: readonly Action[];
  /** The tables between each two of these. */
  readonly between: readonly TablesText[];
}

/** Tables as texts that are equal when they are: as they look, and with what led to that. */
export type TablesText = Readonly<Record<"schema" | "effects", string>>;

export function referenceOf({ migrations, beside }: Scenario, capabilities: Capabilities): Reference {
  const tables = memoryTables();
  const texts = [textOf(tables, isEverything)];
  const actions = migrations.flatMap((migration, at) => {
    if (at === beside?.after) {
      for (const action of beside.actions) tables.carryOut(action);
      texts[texts.length - 1] = textOf(tables, isEverything);
    }
    return carriedOut(migration, compileMigration(migration, capabilities), tables, capabilities, texts);
  });
  return { actions, after: (count) => texts[count]! };
}

/** The same from where all migrations have run, of the actions that take back those above a version. */
export function referenceBack(scenario: Scenario, capabilities: Capabilities, to: number): Reference {
  const { migrations, beside } = scenario;
  const tables = memoryTables();
  for (const [at, migration] of migrations.entries()) {
    if (at === beside?.after) for (const action of beside.actions) tables.carryOut(action);
    carriedOut(migration, compileMigration(migration, capabilities), tables, capabilities, []);
  }
  const texts = [textOf(tables, isEverything)];
  const actions = rollbacksOf(scenario, capabilities)
    .filter(({ migration }) => migration.version > to)
    .flatMap(({ migration, actions: back }) => carriedOut(migration, back, tables, capabilities, texts));
  return { actions, after: (count) => texts[count]! };
}

interface MigrationBack {
  readonly migration: Migration;
  readonly actions: readonly PlacedAction[];
}

/** Of the last migration first, as far as they can be taken back. */
export function rollbacksOf({ migrations }: Scenario, capabilities: Capabilities): readonly MigrationBack[] {
  const database = new Map<string, Table>();
  const all = migrations.map((migration): MigrationBack | undefined => {
    const actions = compileMigration(migration, capabilities);
    const back = rollbackIn(migration, actions.length, database, capabilities);
    for (const { action } of actions) change(database, tablesAfter(database, action));
    return back;
  });
  const last = all.findLastIndex((one) => one === undefined);
  return all.slice(last + 1).toReversed() as readonly MigrationBack[];
}

function rollbackIn(
  migration: Migration,
  done: number,
  before: Database,
  capabilities: Capabilities,
): MigrationBack | undefined {
  try {
    const { actions } = rollbackOf(migration, done, before, capabilities);
    const isAble = actions.every(({ action }) => kindsOf(action).every((kind) => capabilities.actions[kind] === true));
    return isAble ? { migration, actions } : undefined;
  } catch (error) {
    if (!isMigrateError(error)) throw error;
    return undefined;
  }
}

/** `texts`: gets the tables after each action. */
function carriedOut(
  { version }: Migration,
  actions: readonly PlacedAction[],
  tables: MemoryTables,
  capabilities: Capabilities,
  texts: TablesText[],
): readonly ReferenceAction[] {
  return actions.map(({ action }, index): ReferenceAction => {
    const before = new Map(tablesOfAction(action).map((name) => [name, tables.get(name)]));
    const commits = planCommits(action, before, capabilities);
    const between = commits.flatMap((commit) => {
      const turned = textsAfter(commit.detour, tables.copy());
      return [...turned, ...textsAfter([commit], tables)];
    });
    texts.push(between.at(-1)!);
    const done = commits.map((commit) => commit.action);
    return { version, number: index + 1, commits: done, between: between.slice(0, -1) };
  });
}

function textsAfter(commits: readonly PlannedCommit[], tables: MemoryTables): readonly TablesText[] {
  return commits.map(({ action }) => {
    tables.carryOut(action);
    return textOf(tables, isEverything);
  });
}

const isEverything = () => true;

export function textOf(tables: MemoryTables, counts: (table: string) => boolean): TablesText {
  const names = tables.names().filter(counts).toSorted();
  const textsOf = (text: (name: string) => string) => names.map(text).join("\n");
  const schema = textsOf((name) => {
    const { columns, indexes } = tables.get(name)!;
    return `${name} ${canonicalJson({ columns, indexes })}`;
  });
  const effects = textsOf((name) => JSON.stringify([...tables.get(name)!.effects].toSorted()));
  return { schema, effects: `${schema}\n${effects}` };
}

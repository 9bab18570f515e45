/** What the tables have to be after each action, when every one takes effect once and in its order. */
import { isMigrateError } from "../../src/errors/migrate-error.ts";
import type { Migration } from "../../src/migrations/load.ts";
import type { OwnVersions, TableVersions } from "../../src/ledger/state/record.ts";
import { planCommits, type PlannedCommit } from "../../src/plan/commits/commits.ts";
import { compileMigration, type PlacedAction } from "../../src/plan/compile/compile.ts";
import { rollbackOf } from "../../src/plan/rollback/rollback.ts";
import type { Action } from "../../src/actions/model/action.ts";
import { kindsOf, tablesAfter, tablesOfAction } from "../../src/actions/apply-action.ts";
import { change, type Database, type Table } from "../../src/schema/table.ts";
import { memoryTables } from "./target/memory-tables.ts";
import type { MemoryTables } from "./target/memory-table.ts";
import type { Capabilities } from "../../src/targets/contract/target.ts";
import type { Scenario } from "./scenario.ts";
import { textOf, type TablesText } from "./tables-text.ts";

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

export function referenceOf({ migrations, beside }: Scenario, capabilities: Capabilities): Reference {
  const tables = memoryTables();
  const texts = [textOf(tables)];
  const actions = migrations.flatMap((migration, at) => {
    if (at === beside?.after) {
      for (const action of beside.actions) tables.carryOut(action);
      texts[texts.length - 1] = textOf(tables);
    }
    return carriedOut(migration, compileMigration(migration, capabilities), tables, capabilities, texts);
  });
  return { actions, after: (count) => texts[count]! };
}

/** The same from where all migrations have run, of the actions that roll back those above a version. */
export function referenceBack(scenario: Scenario, capabilities: Capabilities, to: number): Reference {
  const tables = memoryTables();
  const back = rollbacksOf(scenario, capabilities, tables);
  const texts = [textOf(tables)];
  const actions = back
    .filter(({ migration }) => migration.version > to)
    .flatMap(({ migration, actions }) => carriedOut(migration, actions, tables, capabilities, texts));
  return { actions, after: (count) => texts[count]! };
}

interface MigrationBack {
  readonly migration: Migration;
  readonly actions: readonly PlacedAction[];
}

/** Of the last migration first, as far as they can be rolled back. All of them are carried out on the tables. */
export function rollbacksOf(
  { migrations, beside }: Scenario,
  capabilities: Capabilities,
  tables: MemoryTables = memoryTables(),
): readonly MigrationBack[] {
  const database = new Map<string, Table>();
  const all = migrations.map((migration, at): MigrationBack | undefined => {
    if (at === beside?.after) for (const action of beside.actions) tables.carryOut(action);
    const actions = compileMigration(migration, capabilities);
    const before = versionsOf(tables);
    carriedOut(migration, actions, tables, capabilities, []);
    const after = versionsOf(tables);
    const versions: TableVersions = Object.fromEntries(
      [...before].map(([name, version]): [string, OwnVersions] => [name, [version, after.get(name) ?? null]]),
    );
    const back = rollbackIn(migration, actions.length, database, capabilities, versions);
    for (const { action } of actions) change(database, tablesAfter(database, action));
    return back;
  });
  const last = all.findLastIndex((one) => one === undefined);
  return all.slice(last + 1).toReversed() as readonly MigrationBack[];
}

function versionsOf(tables: MemoryTables): ReadonlyMap<string, number> {
  return new Map(tables.names().map((name) => [name, tables.get(name)!.version]));
}

function rollbackIn(
  migration: Migration,
  done: number,
  before: Database,
  capabilities: Capabilities,
  tables: TableVersions,
): MigrationBack | undefined {
  const canCall = (action: Action) => kindsOf(action).every((kind) => capabilities.actions[kind] === true);
  const able = capabilities.describes && capabilities.actions.restoreTable === true;
  try {
    const { actions } = rollbackOf(migration, done, before, capabilities, { able, tables, reinserts: false });
    return actions.every(({ action }) => canCall(action)) ? { migration, actions } : undefined;
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
    return textOf(tables);
  });
}

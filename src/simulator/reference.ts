/** What the tables have to be after each action, when every one takes effect once and in its order. */
import type { Migration } from "../migrations/load.ts";
import { compileMigration, type Describing } from "../plan/compile.ts";
import type { Action } from "../schema/action.ts";
import { memoryTables, type MemoryTables } from "../targets/memory/tables.ts";

export interface Reference {
  /** All actions in their order, with the version of the migration and the number in it, counted from 1. */
  readonly actions: readonly ReferenceAction[];
  /** The tables after the first n actions, as a text that is equal when they are; with or without what led to them. */
  after(count: number): Readonly<Record<"effects" | "columns", string>>;
}

export interface ReferenceAction {
  readonly version: number;
  readonly number: number;
  readonly action: Action;
}

export function referenceOf(migrations: readonly Migration[], describing: Describing): Reference {
  const actions = migrations.flatMap((migration) =>
    compileMigration(migration, describing).map(({ action }, index) => ({
      version: migration.version,
      number: index + 1,
      action,
    })),
  );
  const tables = memoryTables();
  const texts = [textOf(tables, isEverything)];
  for (const { action } of actions) {
    if (action.kind === "createTable") tables.create(action.table, action.columns);
    else tables.alter(action.table, action.alterations);
    texts.push(textOf(tables, isEverything));
  }
  return { actions, after: (count) => texts[count]! };
}

const isEverything = () => true;

/** Tables as a text. */
export function textOf(
  tables: MemoryTables,
  counts: (table: string) => boolean,
): Readonly<Record<"effects" | "columns", string>> {
  const names = tables.names().filter(counts).toSorted();
  const columns = names.map((name) => `${name} ${JSON.stringify(tables.get(name)!.columns)}`).join("\n");
  const effects = names.map((name) => JSON.stringify([...tables.get(name)!.effects].toSorted())).join("\n");
  return { columns, effects: `${columns}\n${effects}` };
}

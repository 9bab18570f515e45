/** What the tables have to be after each action, when every one takes effect once and in its order. */
import { canonicalJson } from "../migrations/checksum.ts";
import { planCommits, type PlannedCommit } from "../plan/commits.ts";
import { compileMigration } from "../plan/compile.ts";
import { tablesOfAction, type Action } from "../schema/action.ts";
import { memoryTables, type MemoryTables } from "../targets/memory/tables.ts";
import type { Capabilities } from "../targets/target.ts";
import type { Scenario } from "./scene.ts";

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
    return compileMigration(migration, capabilities).map(({ action }, index): ReferenceAction => {
      const before = new Map(tablesOfAction(action).map((name) => [name, tables.get(name)]));
      const commits = planCommits(action, before, capabilities);
      const between = commits.flatMap((commit) => {
        const turned = textsAfter(commit.detour, tables.copy());
        return [...turned, ...textsAfter([commit], tables)];
      });
      texts.push(between.at(-1)!);
      const done = commits.map((commit) => commit.action);
      return { version: migration.version, number: index + 1, commits: done, between: between.slice(0, -1) };
    });
  });
  return { actions, after: (count) => texts[count]! };
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

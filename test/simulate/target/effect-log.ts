/** What took effect on a table since it was made: a change that was made twice, or made and rolled back, is seen. */
import type { Action, ActionFor } from "../../../src/actions/model/action.ts";
import { changesRows, describeAction } from "../../../src/actions/apply-action.ts";
import { isHidden } from "../../../src/actions/rewrite/append-guard.ts";
import type { Alteration } from "../../../src/actions/model/alteration.ts";
import { formatType } from "../../../src/schema/data-type.ts";
import { formatPath, parsePath } from "../../../src/schema/path.ts";
import { currentPath, newNames } from "../../../src/actions/model/alteration.ts";
import { namesIn } from "../../../src/schema/sql.ts";
import { columnPaths, findColumn, type Table } from "../../../src/schema/table.ts";
import { mark } from "./application-metadata.ts";

/**
 * In order, by the paths of columns, and of the table itself. An index has none: one that is there is not made once more,
 * one that is gone not dropped, and a retype that is refused rolls back what it did to indexes.
 */
export type Effects = ReadonlyMap<string, readonly string[]>;

/** Where the table's own are: no column has that path. */
export const own = "";

/** Of a table that is made for the how-manieth time, with what an action gives it. */
export function firstEffects(table: Table, times: number, action?: ActionFor<"createTable">): Effects {
  const given = action === undefined ? [] : madeWith(action);
  return withColumnsOf(table, new Map([[own, [`made for time ${times}`, ...given]]]));
}

/** The rows of simulated tables are those of applications. */
export function madeWith({ rows = [] }: ActionFor<"createTable">): readonly string[] {
  return rows.length === 0 ? [] : [`made with ${JSON.stringify(rows)}`];
}

export function workedOutAs(expression: string): string {
  return `worked out as ${expression}`;
}

/** The effects after an action, of which just what was not so already counts. */
export function withEffects(effects: Effects, action: Action, before: Table, after: Table): Effects {
  const moved =
    action.kind === "alterColumns"
      ? new Map(movedBy(action.alterations, effects))
      : new Map<string, readonly string[]>(effects);
  const add = (path: string, words: readonly string[]) => moved.set(path, [...(moved.get(path) ?? []), ...words]);
  switch (action.kind) {
    case "addColumns":
      add(own, timesAdded(action));
      for (const { name, as } of action.columns)
        if (as !== undefined) moved.set(formatPath([name]), workedOut(as, before, effects));
      break;
    case "renameTable":
      add(own, [`renamed to ${action.name}`]);
      break;
    case "setMetadata":
      for (const { path, metadata } of action.updates)
        add(formatPath(parsePath(path)), wordsOfMetadata(before, path, metadata));
      break;
    default:
      // Who does not know whether rows were changed changes them again, which is as good as once. Values of a column that is
      // being made are worked out as often as others write.
      if (changesRows(action) && !isOnOwnColumns(action) && moved.get(own)?.at(-1) !== describeAction(action))
        add(own, [describeAction(action)]);
  }
  return withColumnsOf(after, moved);
}

function isOnOwnColumns(action: Action): boolean {
  return action.kind === "updateRows" && Object.keys(action.set).every((path) => path.startsWith("_lance_migrate_"));
}

/** Just the columns that are there. */
function withColumnsOf({ columns }: Table, effects: Effects): Effects {
  const paths = [own, ...columnPaths(columns).map(formatPath)];
  return new Map(paths.map((path) => [path, effects.get(path) ?? []]));
}

/** One with an expression may be rolled back: "not null" is a commit after it, which can fail. */
function timesAdded({ columns }: ActionFor<"addColumns">): readonly string[] {
  return columns.flatMap(({ name, as }) => (as === undefined ? [`added ${name}`] : []));
}

/** Values that were worked out twice are others. */
function workedOut(expression: string, { columns }: Table, effects: Effects): readonly string[] {
  const words = new Set(namesIn(expression));
  const read = columns.filter(({ name }) => words.has(name));
  return [...read.flatMap(({ name }) => effects.get(formatPath([name])) ?? []), workedOutAs(expression)];
}

function wordsOfMetadata(
  { columns }: Table,
  path: string,
  metadata: Readonly<Record<string, string | null>>,
): readonly string[] {
  const known = findColumn(columns, parsePath(path))?.metadata;
  return Object.entries(metadata).flatMap(([key, value]) =>
    key === mark || (known?.[key] ?? null) === value
      ? []
      : [value === null ? `${key} removed` : `${key} set to ${value}`],
  );
}

function movedBy(alterations: readonly Alteration[], effects: Effects): Effects {
  const names = newNames(alterations);
  const added = new Map(alterations.map((one) => [formatPath(parsePath(one.path)), wordsOf(one)] as const));
  return new Map(
    [...effects].map(([path, words]) => [
      path === own ? own : formatPath(currentPath(parsePath(path), names)),
      [...words, ...(added.get(path) ?? [])],
    ]),
  );
}

/** A column may be hidden for a moment where others write, and is then shown again. */
function wordsOf({ path, rename, type, nullable }: Alteration): readonly string[] {
  return [
    ...(rename === undefined || isHidden(rename) || isHidden(path) ? [] : [`renamed to ${rename}`]),
    ...(type === undefined ? [] : [`retyped to ${formatType(type)}`]),
    ...(nullable === undefined ? [] : [nullable ? "made nullable" : "made not null"]),
  ];
}

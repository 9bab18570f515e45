/** Puts the steps of one table into an order that works, by trying the few sensible orders in the model. Pure. */
import { isMigrateError } from "../../../errors/migrate-error.ts";
import { applyActions } from "../../../actions/apply-action.ts";
import { childColumns, ownValue, withChildColumns, type Column } from "../../../schema/data-type.ts";
import { formatPath, type Path } from "../../../schema/path.ts";
import { namesIn } from "../../../schema/sql.ts";
import { differences, findColumn, type Table } from "../../../schema/table.ts";
import { isRecreatable, sameIndex, sameParameters } from "../../../schema/table-index.ts";
import { indexName } from "../../../steps/kinds/tables/create-index.ts";
import { compileStep, type Step } from "../../../steps/registry.ts";
import { follow } from "../../../actions/follow.ts";
import type { Changes } from "./diff-columns.ts";

/** The orders to try. Columns are dropped last, or first in case another column takes their name. */
export function possibleOrders(
  table: string,
  { renames, retypes, nulls, adds, drops, dropsFirst, computed }: Changes,
): readonly (readonly Step[])[] {
  const dropsOf = (paths: readonly Path[]) =>
    paths.map((path): Step => ({ kind: "dropColumn", table, path: formatPath(path) }));
  // Inner fields are renamed first, while the names around them are still the old ones.
  const oneByOne = renames
    .toSorted((one, other) => other.path.length - one.path.length)
    .map(({ path, name }): Step => ({ kind: "renameColumn", table, path: formatPath(path), name }));
  const alterations = renames.map(({ path, name }) => ({ path: formatPath(path), rename: name }));
  const atOnce: readonly Step[] = renames.length < 2 ? oneByOne : [{ kind: "alterColumns", table, alterations }];
  // Recreated columns become the last ones, as added columns do, so try both orders.
  const rests = [
    [...retypes, ...nulls, ...adds],
    [...adds, ...retypes, ...nulls],
  ].slice(0, retypes.length * adds.length === 0 ? 1 : 2);
  const [first, before, after] = [dropsFirst, drops.map((one) => one.before), drops.map((one) => one.after)].map(
    dropsOf,
  );
  return [atOnce, oneByOne].flatMap((names) =>
    rests.flatMap((rest) => [
      [...first!, ...names, ...rest, ...after!, ...computed],
      [...first!, ...before!, ...names, ...rest, ...computed],
    ]),
  );
}

/** Adds the steps for indexes; or returns the problem if the steps fail or do not lead to `wanted`. */
export function tryOrder(
  table: string,
  was: Table,
  wanted: Table,
  steps: readonly Step[],
  comparesParameters: boolean,
): { readonly steps: readonly Step[]; readonly isInOrder: boolean } | { readonly problem: string } {
  const database = new Map([[table, was]]);
  try {
    for (const [index, step] of steps.entries()) {
      const problem = goneFrom(step, was, database.get(table)!, steps.slice(0, index));
      if (problem !== undefined) return { problem };
      applyActions(database, compileStep(step));
    }
    const indexes = indexSteps(table, database.get(table)!, wanted, comparesParameters);
    applyActions(database, indexes.flatMap(compileStep));
    const found = database.get(table)!;
    const [wrong] = differences(wanted, inOrderOf(wanted, found));
    const isInOrder = differences(wanted, found).length === 0;
    return wrong === undefined ? { steps: [...steps, ...indexes], isInOrder } : { problem: `${table}: ${wrong}` };
  } catch (error) {
    if (!isMigrateError(error)) throw error;
    return { problem: error.message };
  }
}

/** Why a step's SQL can't work: a column that it reads was renamed or dropped. The engine would report it too late. */
function goneFrom(step: Step, was: Table, now: Table, earlier: readonly Step[]): string | undefined {
  const sql = step.kind === "addColumn" ? step.as : step.kind === "retypeColumn" ? step.using : undefined;
  if (sql === undefined) return undefined;
  const words = namesIn(sql);
  const gone = was.columns.find(({ name }) => words.includes(name) && findColumn(now.columns, [name]) === undefined);
  if (gone === undefined) return undefined;
  const at = follow({ table: step.table, path: [gone.name] }, earlier.flatMap(compileStep));
  const column = step.kind === "addColumn" ? step.name : (step as { readonly path: string }).path;
  const then = at === undefined ? "is dropped before it" : `is renamed to ${at.path[0]!} before it`;
  return `the SQL of ${step.table}.${column} names ${gone.name}, which ${then}`;
}

/** The table with its columns in the order of `wanted`, at every depth. */
export function inOrderOf(wanted: Table | undefined, table: Table | undefined): Table | undefined {
  if (wanted === undefined || table === undefined) return table;
  return { ...table, columns: columnsInOrder(wanted.columns, table.columns) };
}

function columnsInOrder(order: readonly Column[], columns: readonly Column[]): readonly Column[] {
  const place = ({ name }: Column) => {
    const at = order.findIndex((one) => one.name === name);
    return at === -1 ? order.length : at;
  };
  return columns
    .toSorted((one, other) => place(one) - place(other))
    .map((column) => {
      const like = order.find(({ name }) => name === column.name);
      if (like === undefined) return column;
      return {
        ...column,
        type: withChildColumns(column.type, columnsInOrder(childColumns(like.type), childColumns(column.type))),
      };
    });
}

export function indexSteps(
  table: string,
  { indexes: found = {} }: Table,
  { indexes: wanted }: Table,
  comparesParameters = false,
): readonly Step[] {
  if (wanted === undefined) return [];
  const isSame = comparesParameters ? sameParameters : sameIndex;
  const there = Object.entries(found).flatMap(([name, index]) => (index === null ? [] : [[name, index] as const]));
  const replaces = (name: string) => ownValue(found, name)?.path === ownValue(wanted, name)?.path;
  return [
    ...there.flatMap(([name]): readonly Step[] => (replaces(name) ? [] : [{ kind: "dropIndex", table, name }])),
    ...Object.entries(wanted).flatMap(([name, index]): readonly Step[] => {
      const was = ownValue(found, name) ?? null;
      if (index === null || !isRecreatable(index) || isSame(was, index)) return [];
      const { path, ...type } = index;
      const options = {
        ...(name !== indexName(path) && { name }),
        ...(replaces(name) && { replace: true }),
      };
      return [{ kind: "createIndex", table, path, type, ...options }];
    }),
  ];
}

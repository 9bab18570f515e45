import type { Action, ActionKind, AlterColumnsAction } from "../../model/action.ts";
import { applyAlterations, describeAlteration } from "../../rewrite/apply-alterations.ts";
import { currentPath, newNames, type Alteration } from "../../model/alteration.ts";
import { castVerdict, readsLocalTime } from "../../../schema/cast-rules.ts";
import { childColumns, formatType, type Column, type DataType } from "../../../schema/data-type.ts";
import { risksForEmbeddings } from "../../rewrite/embedding-functions.ts";
import { withoutMetadata } from "../../../schema/metadata.ts";
import { formatPath, parsePath, type Path } from "../../../schema/path.ts";
import { risksOfAlteration } from "../../model/risk.ts";
import { findColumn, type Table } from "../../../schema/table.ts";
import { guardOff, guardOn, guardOnByHiding } from "../../rewrite/append-guard.ts";
import type { ActionModel, Commit } from "../../model/action-model.ts";
import type { Blocker, Inverse } from "../../model/inverse.ts";
import {
  checkIndexes,
  createIndexes,
  dropIndexes,
  indexesOn,
  indexRisks,
  putBackMetadata,
} from "../../rewrite/rebuild-indexes.ts";

export const alterColumns: ActionModel<AlterColumnsAction> = {
  kind: "alterColumns",
  after: (before, action) => {
    const { table, alterations } = action;
    const after = applyAlterations(table, before, alterations);
    checkIndexes(table, after, indexesOn(before, rewrittenBy(action)));
    return after;
  },
  pathAfter: (path, { alterations }) =>
    alterations.some(({ rename }) => rename !== undefined) ? currentPath(path, newNames(alterations)) : path,
  invert: alterationsBack,
  describe: ({ table, alterations }) => alterations.map((one) => describeAlteration(table, one)).join(", "),
  risks: (action, before, able) => [
    ...action.alterations.flatMap((one) => risksOfAlteration(action.table, before, one, mayGuard(able))),
    ...indexRisks(action.table, before, rewrittenBy(action), able),
    ...risksForEmbeddings(
      action.table,
      before,
      action.alterations.flatMap(({ path, rename }) => (rename === undefined ? [] : [path])),
    ),
  ],
  rewrites: rewrittenBy,
  writes: (action, before) => {
    const rewritten = rewrittenBy(action);
    if (rewritten.size === 0) return undefined;
    const { columns } = applyAlterations(action.table, before, action.alterations);
    return { columns: columns.filter((_, index) => rewritten.has(before.columns[index]!.name)) };
  },
  commits: (action, before, able) => {
    const { table } = action;
    const rewritten = rewrittenBy(action);
    if (rewritten.size === 0 || !mayGuard(able)) return [{ action }];
    const after = applyAlterations(table, before, action.alterations);
    const columns = before.columns.filter(({ name }) => rewritten.has(name));
    const renamed = new Set(
      before.columns.flatMap(({ name }, at) => (rewritten.has(name) ? [after.columns[at]!.name] : [])),
    );
    const was = indexesOn(before, rewritten);
    const indexes = able("createIndex")
      ? // In reverse order, so that a run that is killed while undoing leaves a state from which the next run can resume.
        { drop: dropIndexes(table, was), undo: createIndexes(table, was.toReversed()) }
      : undefined;
    const guarded = columns.some(holdsNulls);
    const undoIndexes = indexes?.undo ?? [];
    const hiding = guardOnByHiding(table, rewritten, undoIndexes);
    const off = guardOff(table);
    const cast: Commit = { action, undo: [off, ...undoIndexes], loses: true };
    return [
      ...alone(indexes?.drop ?? []),
      ...(guarded
        ? [{ action: guardOn(table), undo: undoIndexes, detour: hiding }, cast]
        : [{ action, undo: undoIndexes, loses: true, detour: [...hiding, cast, ...alone([off])] }]),
      ...alone(able("setMetadata") ? putBackMetadata(table, after, renamed) : []),
      ...alone(guarded ? [off] : []),
      ...alone(indexes === undefined ? [] : createIndexes(table, indexesOn(after, renamed))),
    ];
  },
};

function mayGuard(able: (kind: ActionKind) => boolean): boolean {
  return able("addColumns") && able("dropColumns");
}

function alone(actions: readonly Commit["action"][]): readonly Commit[] {
  return actions.map((action) => ({ action }));
}

/** The columns of the table that are cast, as a whole or in part. */
function rewrittenBy({ alterations }: AlterColumnsAction): ReadonlySet<string> {
  return new Set(alterations.flatMap(({ path, type }) => (type === undefined ? [] : [parsePath(path)[0]!])));
}

function holdsNulls({ nullable, type }: Column): boolean {
  return nullable || childColumns(type).some(holdsNulls);
}

/**
 * The table as the engine leaves it: columns that are cast lose their metadata. `after`: the table with the metadata.
 */
export function afterCast(action: AlterColumnsAction, after: Table): Table {
  const names = newNames(action.alterations);
  const cast = new Set([...rewrittenBy(action)].map((name) => currentPath([name], names)[0]!));
  return {
    ...after,
    columns: after.columns.map((column) => (cast.has(column.name) ? withoutMetadata(column) : column)),
  };
}

/**
 * The inverse of every alteration. Columns are made not null again by an action of their own, which comes first,
 * because the engine refuses "not null" and a cast in one call.
 */
function alterationsBack({ table, alterations }: AlterColumnsAction, { columns }: Table): Inverse {
  const names = newNames(alterations);
  const strict: Alteration[] = [];
  const others: Alteration[] = [];
  const blockers: Blocker[] = [];
  for (const { path: was, rename, type, nullable } of alterations) {
    const column = findColumn(columns, parsePath(was))!;
    const path = formatPath(currentPath(parsePath(was), names));
    const cast = type && castBack(table, path, column.type, type);
    if (cast !== undefined && "lost" in cast) return cast;
    blockers.push(...(cast?.blockers ?? []));
    if (nullable === true) {
      const around = nullableAround(columns, parsePath(was));
      if (around !== undefined)
        return { lost: `${table}.${was} is null wherever ${around} is, so it can't be made not null again` };
      strict.push({ path, nullable: false });
      blockers.push({ kind: "null", table, path });
    }
    const back = {
      ...(rename === undefined ? {} : { rename: column.name }),
      ...(type === undefined ? {} : { type: column.type }),
      ...(nullable === false ? { nullable: true } : {}),
    };
    if (Object.keys(back).length > 0) others.push({ path, ...back });
  }
  const actions = [strict, others].filter(({ length }) => length > 0);
  const after = strict.length === 0 ? 0 : 1;
  return {
    actions: actions.map((some): Action => ({ kind: "alterColumns", table, alterations: some })),
    blockers: blockers.map((one) => (one.kind === "cast" ? { ...one, at: after } : one)),
  };
}

/**
 * The outermost nullable column around a column; undefined if there is none. Where it is null, the column is null too.
 */
function nullableAround(columns: readonly Column[], path: Path): string | undefined {
  const around = path.slice(0, -1).map((_, at) => path.slice(0, at + 1));
  const found = around.find((one) => findColumn(columns, one)?.nullable === true);
  return found && formatPath(found);
}

function castBack(
  table: string,
  path: string,
  from: DataType,
  to: DataType,
): { readonly blockers: readonly Blocker[] } | { readonly lost: string } {
  const [there, back] = [castVerdict(from, to), castVerdict(to, from)];
  const place = `${table}.${path}`;
  if (there.allowed && there.mayLose)
    return { lost: `${place} may silently lose precision or range: ${formatType(from)} to ${formatType(to)}` };
  if (readsLocalTime(from, to) || readsLocalTime(to, from))
    return { lost: `a cast of ${place} back from ${formatType(to)} to ${formatType(from)} gives other times` };
  if (!back.allowed)
    return { lost: `the engine does not cast ${place} back from ${formatType(to)} to ${formatType(from)}` };
  return { blockers: back.mayFail || back.mayLose ? [{ kind: "cast", table, path, from: to, to: from }] : [] };
}

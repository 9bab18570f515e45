/**
 * The indexes and metadata that others have given a table: which of them a restore replaces, and which of their metadata
 * a call has replaced. What can be put back, and what is lost. Pure.
 */
import { canonicalJson } from "../../migrations/checksum.ts";
import { resultOf, rewrites, tableAfter } from "../../actions/apply-action.ts";
import type { Action, MetadataUpdate } from "../../actions/model/action.ts";
import { formatType, ownValue, sameColumns, type Column } from "../../schema/data-type.ts";
import { withoutMetadata } from "../../schema/metadata.ts";
import { formatPath, parsePath, type Path } from "../../schema/path.ts";
import { reservedProblem, withoutExtension } from "../../schema/reserved-metadata.ts";
import { columnPaths, findColumn, type Table } from "../../schema/table.ts";
import { indexProblem, isRecreatable, sameIndex, type FoundIndex, type TableIndex } from "../../schema/table-index.ts";
import { follow } from "../../actions/follow.ts";
import type { PlannedAction } from "../make-plan.ts";

export interface ForeignSettings {
  readonly metadata: readonly MetadataUpdate[];
  /** By name, on columns as the restored version names them. */
  readonly indexes: readonly (readonly [name: string, index: TableIndex])[];
  /** As text. */
  readonly lost: readonly string[];
}

/** An action that restores a table, and the table before and after it as migrations know it. */
type RestoringAction = Pick<PlannedAction, "action" | "before" | "after" | "undoes">;

/** `replaced`: the table right before it was restored; `restored`: right after. */
export function foreignSettings(restoring: RestoringAction, replaced: Table, restored: Table): ForeignSettings {
  const places = placesOf(restoring, replaced, restored);
  const { indexes, lost } = indexesSince(restoring, places, replaced, restored);
  const metadata = metadataSince(restoring, places, replaced, restored);
  return { metadata, indexes, lost: [...lost, ...schemaKeysSince(restoring, replaced, restored)] };
}

/** The restored table with what is put back. */
export function withForeignSettings(
  table: string,
  restored: Table,
  { metadata: updates, indexes }: ForeignSettings,
): Table {
  const set = tableAfter(new Map([[table, restored]]), { kind: "setMetadata", table, updates });
  return { ...set, indexes: { ...restored.indexes, ...Object.fromEntries(indexes) } };
}

/** A column or field of the restored version, and its path right before the restore. */
interface RestoredPath {
  readonly path: Path;
  readonly was: Path;
}

/** Leaves out columns that the migration had dropped, even if other columns have their names now. */
function placesOf(
  { action: { table }, undoes = [] }: RestoringAction,
  replaced: Table,
  restored: Table,
): readonly RestoredPath[] {
  return columnPaths(restored.columns).flatMap((path): readonly RestoredPath[] => {
    const at = follow({ table, path }, undoes);
    return at === undefined || findColumn(replaced.columns, at.path) === undefined ? [] : [{ path, was: at.path }];
  });
}

function metadataSince(
  { action: { table }, before, after }: RestoringAction,
  places: readonly RestoredPath[],
  replaced: Table,
  restored: Table,
): readonly MetadataUpdate[] {
  return places.flatMap(({ path, was }): readonly MetadataUpdate[] => {
    const own = { ...metadataAt(was, before.get(table)!), ...metadataAt(path, after.get(table)!) };
    const [now, then] = [findColumn(replaced.columns, was)!, findColumn(restored.columns, path)!];
    // With the type, its extension has changed too.
    const isSame = formatType(now.type) === formatType(then.type);
    const [theirs, old] = [now, then].map(({ metadata = {} }) => (isSame ? metadata : withoutExtension(metadata)));
    const changed = changedKeys(theirs!, old!, own).filter(
      ([key, value, wasOld]) => reservedProblem(key, value, wasOld) === undefined,
    );
    return updateOf(path, changed);
  });
}

/**
 * The metadata that a call replaced with older metadata of the same columns, except what others have set after the call,
 * as `now` shows. `before`, `after`: the table around the commit. Empty if the commit is not the call's, because the
 * table was recreated since.
 */
export function metadataToReset(action: Action, before: Table, after: Table, now: Table): readonly MetadataUpdate[] {
  // Undefined if it was another table at that point.
  const expected = resultOf(action, before);
  if (expected === undefined || !sameColumns(bare(expected), bare(after))) return [];
  const paths = columnPaths(after.columns).filter((path) => findColumn(expected.columns, path) !== undefined);
  const lost = paths.flatMap((path) =>
    updateOf(path, changedKeys(metadataAt(path, expected), metadataAt(path, after), {})),
  );
  return stillUnset(lost, after, now);
}

function bare({ columns }: Table): readonly Column[] {
  return columns.map(withoutMetadata);
}

/** The updates without what others have set or dropped since `left`, the table that the restore or the call left. */
export function stillUnset(updates: readonly MetadataUpdate[], left: Table, now: Table): readonly MetadataUpdate[] {
  return updates.flatMap(({ path: name, metadata }): readonly MetadataUpdate[] => {
    const path = parsePath(name);
    // One update of a column that is gone would make the call fail for all columns.
    if (findColumn(now.columns, path) === undefined) return [];
    const [old, current] = [metadataAt(path, left), metadataAt(path, now)];
    const unset = Object.entries(metadata).filter(
      ([key]) => (ownValue(old, key) ?? null) === (ownValue(current, key) ?? null),
    );
    return updateOf(path, unset);
  });
}

type ColumnMetadata = Readonly<Record<string, string | null>>;

function metadataAt(path: Path, { columns }: Table): ColumnMetadata {
  return findColumn(columns, path)?.metadata ?? {};
}

/** Empty if there are no keys. */
function updateOf(
  path: Path,
  keys: readonly (readonly [key: string, value: string | null, ...unknown[]])[],
): readonly MetadataUpdate[] {
  const metadata = Object.fromEntries(keys.map(([key, value]) => [key, value]));
  return keys.length === 0 ? [] : [{ path: formatPath(path), metadata }];
}

/** `own`: the keys that migrations have set or removed. */
function changedKeys(
  theirs: ColumnMetadata,
  old: ColumnMetadata,
  own: ColumnMetadata,
): readonly (readonly [key: string, value: string | null, old: string | null])[] {
  return [...new Set([...Object.keys(old), ...Object.keys(theirs)])].flatMap((key) => {
    const [value, was] = [ownValue(theirs, key) ?? null, ownValue(old, key) ?? null];
    return value === was || Object.hasOwn(own, key) ? [] : [[key, value, was] as const];
  });
}

function indexesSince(
  { action: { table }, before, after, undoes = [] }: RestoringAction,
  places: readonly RestoredPath[],
  replaced: Table,
  restored: Table,
): Pick<ForeignSettings, "indexes" | "lost"> {
  // An index that was recreated after its column was rewritten may be reported with other parameters.
  const isRewritten = undoes.some((action) => rewrites(action).size > 0);
  const isSame = (one: FoundIndex, other: FoundIndex) =>
    sameIndex(one, other) && (isRewritten || canonicalJson(one.options) === canonicalJson(other.options));
  const isOwn = (name: string) => [before, after].some((known) => ownValue(known.get(table)!.indexes, name) != null);
  const indexes: (readonly [string, TableIndex])[] = [];
  const lost: string[] = [];
  for (const [name, index] of Object.entries(replaced.indexes ?? {})) {
    const was = index === null ? undefined : formatPath(parsePath(index.path));
    const place = places.find((one) => formatPath(one.was) === was);
    if (index === null || place === undefined || isOwn(name)) continue;
    const wanted = { ...index, path: formatPath(place.path) };
    const there = ownValue(restored.indexes, name);
    if (there != null && isSame(there, wanted)) continue;
    if (!isRecreatable(wanted)) {
      lost.push(`index ${name} on ${index.path}, which can't be recreated: ${wanted.stuck}`);
      continue;
    }
    const { type } = findColumn(restored.columns, place.path)!;
    const problem = indexProblem(wanted, type);
    if (problem === undefined) indexes.push([name, wanted]);
    else lost.push(`index ${name} on ${index.path}, which can't be on ${formatType(type)}: ${index.kind} ${problem}`);
  }
  return { indexes, lost };
}

/** No call changes the metadata of the schema, but some clients of the format do. */
function schemaKeysSince(
  { action: { table }, before, after }: RestoringAction,
  replaced: Table,
  restored: Table,
): readonly string[] {
  if (replaced.metadata === undefined || restored.metadata === undefined) return [];
  const own = { ...before.get(table)!.metadata, ...after.get(table)!.metadata };
  return changedKeys(replaced.metadata, restored.metadata, own).map(([key]) => `${key} in the schema's metadata`);
}

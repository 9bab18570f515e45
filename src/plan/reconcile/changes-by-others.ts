/**
 * The indexes and metadata that others have given a table since the version that is restored: which of them are put
 * back, and which are lost. Pure.
 */
import { canonicalJson } from "../../migrations/checksum.ts";
import { rewrites, tableAfter } from "../../actions/apply-action.ts";
import type { MetadataUpdate } from "../../actions/model/action.ts";
import { formatType, ownValue } from "../../schema/data-type.ts";
import { formatPath, parsePath, type Path } from "../../schema/path.ts";
import { reservedProblem, withoutExtension } from "../../schema/reserved-metadata.ts";
import { columnPaths, findColumn, type Table } from "../../schema/table.ts";
import { indexProblem, isRecreatable, sameIndex, type FoundIndex, type TableIndex } from "../../schema/table-index.ts";
import { follow } from "../../actions/follow.ts";
import type { PlannedAction } from "../make-plan.ts";

export interface Others {
  readonly metadata: readonly MetadataUpdate[];
  /** By name, on columns as the restored version names them. */
  readonly indexes: readonly (readonly [name: string, index: TableIndex])[];
  /** As text. */
  readonly lost: readonly string[];
}

/** An action that restores a table, and the table before and after it as migrations know it. */
type RestoringAction = Pick<PlannedAction, "action" | "before" | "after" | "undoes">;

/** `replaced`: the table right before it was restored; `restored`: right after. */
export function othersSince(restoring: RestoringAction, replaced: Table, restored: Table): Others {
  const places = placesOf(restoring, replaced, restored);
  const { indexes, lost } = indexesSince(restoring, places, replaced, restored);
  const metadata = metadataSince(restoring, places, replaced, restored);
  return { metadata, indexes, lost: [...lost, ...schemaKeysSince(restoring, replaced, restored)] };
}

/** The restored table with what is put back. */
export function withOthers(table: string, restored: Table, { metadata: updates, indexes }: Others): Table {
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
  const metadataOf = ({ columns }: Table, path: Path) => findColumn(columns, path)?.metadata ?? {};
  return places.flatMap(({ path, was }): readonly MetadataUpdate[] => {
    const own = { ...metadataOf(before.get(table)!, was), ...metadataOf(after.get(table)!, path) };
    const [now, then] = [findColumn(replaced.columns, was)!, findColumn(restored.columns, path)!];
    // With the type, its extension has changed too.
    const isSame = formatType(now.type) === formatType(then.type);
    const [theirs, old] = [now, then].map(({ metadata = {} }) => (isSame ? metadata : withoutExtension(metadata)));
    const changed = changedKeys(theirs!, old!, own).filter(
      ([key, value, wasOld]) => reservedProblem(key, value, wasOld) === undefined,
    );
    const metadata = Object.fromEntries(changed.map(([key, value]) => [key, value]));
    return changed.length === 0 ? [] : [{ path: formatPath(path), metadata }];
  });
}

type ColumnMetadata = Readonly<Record<string, string | null>>;

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
): Pick<Others, "indexes" | "lost"> {
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

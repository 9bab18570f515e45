/**
 * Planning for a target that cannot describe its tables. There, the outcome of an unanswered call is determined from
 * the list of tables, or by renaming a column to its own name, which succeeds only if the column exists. So each call
 * must either create a new name or change nothing when it is repeated. Pure.
 */
import type { Action, ActionFor } from "../../actions/model/action.ts";
import { currentPath, newNames, type Alteration } from "../../actions/model/alteration.ts";
import { formatPath, parsePath } from "../../schema/path.ts";
import { findColumn, type Table } from "../../schema/table.ts";

/** How to determine whether an action has run. */
export type Proof =
  /** Its table is in the list. */
  | { readonly kind: "listed" }
  /** This column exists and did not exist before. */
  | { readonly kind: "column"; readonly path: string }
  /** No check is needed, because running it again changes nothing. */
  | { readonly kind: "repeatable" };

export function proofOf(action: Action, before: Table | undefined): Proof {
  if (action.kind === "createTable") return { kind: "listed" };
  if (action.kind !== "alterColumns") return { kind: "repeatable" };
  const renamed = action.alterations.filter(({ rename }) => rename !== undefined);
  if (renamed.length === 0) return { kind: "repeatable" };
  const names = newNames(action.alterations);
  const paths = renamed.map(({ path }) => currentPath(parsePath(path), names));
  const telling = paths.find((path) => findColumn(before?.columns ?? [], path) === undefined);
  // Without swaps, every chain of renames ends in an unused name.
  if (telling === undefined) throw new TypeError(`no new name in ${JSON.stringify(action)}`);
  return { kind: "column", path: formatPath(telling) };
}

/**
 * Splits every swap of names (a → b, b → a, and longer cycles): one column gets a temporary name, the others are
 * renamed, and then the first gets its new name. The temporary name contains the column's own name, so that the result
 * of a late call of another swap is not mistaken for that of this one.
 */
export function withoutSwaps(action: Action): readonly Action[] {
  const circles = action.kind === "alterColumns" ? circlesOf(action.alterations) : [];
  if (action.kind !== "alterColumns" || circles.length === 0) return [action];
  const firsts = new Map(circles.map(([first]) => [first!, `_lance_migrate_swap_${parsePath(first!.path).at(-1)!}`]));
  const moving = new Set(circles.flatMap((circle) => circle.slice(1)));

  // Changes that data can make fail are in the first call. If it fails, no name has changed.
  const first = action.alterations
    .map((alteration) => ({
      ...alteration,
      rename: moving.has(alteration) ? undefined : (firsts.get(alteration) ?? alteration.rename),
    }))
    .filter(({ rename, type, nullable }) => rename !== undefined || type !== undefined || nullable !== undefined);
  const names = newNames(first);
  const second = [...moving].map((alteration) => ({
    path: currentText(alteration, names),
    rename: alteration.rename!,
  }));
  for (const [key, name] of newNames([...moving])) names.set(key, name);
  const third = [...firsts.keys()].map((alteration) => ({
    path: currentText(alteration, names),
    rename: alteration.rename!,
  }));
  return [first, second, third].map((alterations): ActionFor<"alterColumns"> => ({ ...action, alterations }));
}

/** The renames that form cycles, each cycle in the order in which the names are passed on. */
function circlesOf(alterations: readonly Alteration[]): readonly (readonly Alteration[])[] {
  const byPath = new Map(alterations.map((alteration) => [formatPath(parsePath(alteration.path)), alteration]));
  const seen = new Set<Alteration>();
  return alterations.flatMap((start) => {
    const row: Alteration[] = [];
    let at: Alteration | undefined = start;
    while (at?.rename !== undefined && !seen.has(at)) {
      seen.add(at);
      row.push(at);
      at = byPath.get(formatPath([...parsePath(at.path).slice(0, -1), at.rename]));
    }
    return at === start && row.length > 0 ? [row] : [];
  });
}

function currentText({ path }: Alteration, names: ReadonlyMap<string, string>): string {
  return formatPath(currentPath(parsePath(path), names));
}

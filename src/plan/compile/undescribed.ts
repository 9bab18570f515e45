/**
 * Planning for a target that cannot describe its tables. There, the outcome of a call is determined from the list of
 * tables, or by renaming a column to its own name, which succeeds only if the column exists. And a service may apply
 * one alteration of a call and not the next. So each call makes one alteration, which either creates a new name or
 * changes nothing when it is repeated. Pure.
 */
import type { Action } from "../../actions/model/action.ts";
import { currentPath, type Alteration } from "../../actions/model/alteration.ts";
import { formatPath, parsePath } from "../../schema/path.ts";

/** How to determine whether an action has run. */
export type Proof =
  /** Its table is in the list. */
  | { readonly kind: "listed" }
  /** This column exists and did not exist before. */
  | { readonly kind: "column"; readonly path: string }
  /** No check is needed, because running it again changes nothing. */
  | { readonly kind: "repeatable" };

/** The proof of an action of one alteration at most. */
export function proofOf(action: Action): Proof {
  if (action.kind === "createTable") return { kind: "listed" };
  const [alteration] = action.kind === "alterColumns" ? action.alterations : [];
  return alteration?.rename === undefined ? { kind: "repeatable" } : { kind: "column", path: renamed(alteration) };
}

/**
 * The alterations of an action one by one. The changes that data can make fail come first: if one fails, no name has
 * changed. Then the renames follow in an order in which each new name is free. Where names are swapped (a → b, b → a,
 * and longer cycles), one column gets a temporary name until the others have theirs. The temporary name contains the
 * column's own name, so that the result of a late call of another swap is not mistaken for that of this one.
 */
export function oneByOne(action: Action): readonly Action[] {
  if (action.kind !== "alterColumns") return [action];
  const single: Alteration[] = action.alterations.flatMap(({ path, type, nullable }) => [
    ...(type === undefined ? [] : [{ path, type }]),
    ...(nullable === undefined ? [] : [{ path, nullable }]),
  ]);
  const names = new Map<string, string>();
  const move = ({ path }: Alteration, rename: string): void => {
    single.push({ path: formatPath(currentPath(parsePath(path), names)), rename });
    names.set(formatPath(parsePath(path)), rename);
  };
  const aside: Alteration[] = [];
  let left = action.alterations.filter(({ rename }) => rename !== undefined);
  while (left.length > 0) {
    const isTaken = (one: Alteration) =>
      left.some((other) => other !== one && isSameName(formatPath(parsePath(other.path)), renamed(one)));
    const free = left.find((one) => !isTaken(one));
    const next = free ?? left[0]!;
    move(next, free?.rename ?? `_lance_migrate_swap_${parsePath(next.path).at(-1)!}`);
    if (free === undefined) aside.push(next);
    left = left.filter((one) => one !== next);
  }
  for (const one of aside) move(one, one.rename!);
  return single.map((alteration) => ({ ...action, alterations: [alteration] }));
}

/** Whether the renames of an action exchange names, so that it undoes itself when it is repeated. */
export function swapsNames(action: Action): boolean {
  const renames = (actions: readonly Action[]) =>
    actions
      .flatMap((one) => (one.kind === "alterColumns" ? one.alterations : []))
      .filter(({ rename }) => rename !== undefined).length;
  return renames(oneByOne(action)) > renames([action]);
}

/** No table has two names that differ only in case. */
function isSameName(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

/** The path of a column after its own rename. */
function renamed({ path, rename }: Alteration): string {
  return formatPath([...parsePath(path).slice(0, -1), rename!]);
}

/** What people should know before an action runs: it is allowed, and may still not do what they want. Pure. */
import type { Alteration } from "./alter.ts";
import { castVerdict } from "./cast.ts";
import { formatType } from "./data-type.ts";
import { parsePath } from "./path.ts";
import { findColumn, type Table } from "./table.ts";

export interface Risk {
  /**
   * - `loss`: values may change without a word.
   * - `failure`: a value in the table may stop the step; nothing changes then.
   * - `writers`: what other programs write meanwhile may be lost.
   */
  readonly kind: "loss" | "failure" | "writers";
  readonly text: string;
}

/** The risks of one change of a table as it is before. `guarded`: appends are kept out while it is rewritten. */
export function risksOfAlteration(
  table: string,
  before: Table,
  { path, type, nullable }: Alteration,
  guarded: boolean,
): readonly Risk[] {
  const column = findColumn(before.columns, parsePath(path));
  if (column === undefined) return [];
  const place = `${table}.${path}`;
  const risks: Risk[] = [];
  if (nullable === false) risks.push({ kind: "failure", text: `a null in ${place} stops this` });
  if (type === undefined) return risks;
  const verdict = castVerdict(column.type, type);
  const cast = `${formatType(column.type)} to ${formatType(type)}`;
  if (verdict.allowed && verdict.mayLose)
    risks.push({ kind: "loss", text: `${place} may lose precision or range without a word: ${cast}` });
  if (verdict.allowed && verdict.mayFail)
    risks.push({ kind: "failure", text: `a value in ${place} that does not fit stops this: ${cast}` });
  if (column.nullable)
    risks.push({
      kind: "writers",
      text: guarded
        ? `${place} is nullable: appends by others are refused while it is rewritten`
        : `${place} is nullable: what others append to it while it is rewritten may read null, so stop them`,
    });
  return risks;
}

/** Writes the former names of a migration into its text. Their form is known, so this does not need ts-morph. */
import { withLists, type ListExport, type Lists } from "./fill-lists.ts";

/** Undefined if the text has another form than that of generated migrations. Carriage returns may end its lines. */
export function withNames(text: string, was: NonNullable<Lists["was"]>): string | undefined {
  const up = exported(text, /^(?:\/\*\*(?:(?!\*\/)[^])*\*\/\s*\n)?export const up\b/m);
  if (up === undefined) return undefined;
  const known = exported(text, /^export const was = (?=\[[^\]]*\];\r?$)/m);
  if (known === undefined && /^export .*\bwas\b/m.test(text)) return undefined;
  return withLists(text, { was }, up, () => known, "");
}

/** The list behind the match ends with the next bracket. */
function exported(text: string, start: RegExp): ListExport | undefined {
  const found = start.exec(text);
  if (found === null) return undefined;
  const value = { start: found.index + found[0].length, end: text.indexOf("]", found.index + found[0].length) + 1 };
  return { value, statement: { start: found.index, end: value.end }, type: "", typeTag: undefined };
}

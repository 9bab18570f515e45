/**
 * Fits lines into the width of a terminal. A run with nothing pending loads this, and no library, so that widths here are
 * upper bounds.
 */
import { withoutKnownSecrets } from "../../secrets/redact.ts";

/** Which of the text's spaces become line breaks, so that no line is wider; lines after the first begin with `indent`. */
export function breaksIn(text: string, columns: number, indent: number): ReadonlySet<number> {
  const breaks = new Set<number>();
  const first = text.length - text.trimStart().length;
  let [column, space, sinceSpace] = [first, -1, 0];
  for (let at = first; at < text.length; at++) {
    const width = widthOf(text, at);
    column += width;
    sinceSpace += width;
    if (text[at] === " ") [space, sinceSpace] = [at, 0];
    if (column <= columns || space === -1) continue;
    breaks.add(space);
    [column, space] = [indent + sinceSpace, -1];
  }
  return breaks;
}

/** The text, cut where it is wider; `end` is never cut. */
export function cut(whole: string, columns: number, end = ""): string {
  // The stream would no longer recognise what is left of a secret.
  const text = withoutKnownSecrets(whole);
  const free = columns - widthAtMost(end);
  if (widthAtMost(text) <= free) return `${text}${end}`;
  let at = 0;
  for (let used = widthAtMost(" …"); used + widthOf(text, at) <= free; at++) used += widthOf(text, at);
  return `${text.slice(0, at).trimEnd()} …${end}`;
}

function widthAtMost(text: string): number {
  let width = 0;
  for (let at = 0; at < text.length; at++) width += widthOf(text, at);
  return width;
}

/** No character takes more than two columns. The second half of a surrogate pair takes none of its own. */
function widthOf(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code < 0x7f || text[at] === "…") return 1;
  return code >= 0xdc00 && code < 0xe000 ? 0 : 2;
}

/** Removes secrets from texts, in the forms in which messages and answers contain them. */
import { lowerCase, positionsIn, unescape } from "./unescape.ts";

const hidden = "***";

/** The text with every secret replaced: as it is, in base64, or escaped as in JSON or in URLs, even several times. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  const pieces = [...new Set(secrets.flatMap(piecesOf))].filter(({ length }) => length > 0 && length <= text.length);
  // Both are searched: what stands before a secret may turn its beginning into an escape.
  const spans = [...spansIn(lowerCase(text), pieces), ...spansInUnescaped(text, pieces)];
  let shown = "";
  let end = 0;
  for (const { from, to } of spans.toSorted((one, other) => one.from - other.from)) {
    if (from >= end) shown += text.slice(end, from) + hidden;
    end = Math.max(end, to);
  }
  return shown + text.slice(end);
}

interface Span {
  readonly from: number;
  readonly to: number;
}

function spansInUnescaped(original: string, pieces: readonly string[]): readonly Span[] {
  const spans = spansIn(unescape(original), pieces);
  if (spans.length === 0) return [];
  const { begins, ends } = positionsIn(original);
  return spans.map(({ from, to }) => ({ from: begins[from]!, to: ends[to - 1]! }));
}

function spansIn(text: string, pieces: readonly string[]): readonly Span[] {
  return pieces.flatMap((piece) => {
    const spans: Span[] = [];
    for (let from = text.indexOf(piece); from !== -1; from = text.indexOf(piece, from + 1))
      spans.push({ from, to: from + piece.length });
    return spans;
  });
}

const known = new Map<string, readonly string[]>();

/**
 * What to search for in a text in lower case and in the unescaped text. A long secret is cut into pieces, because a
 * text may cut it off, and into its lines, because a text may break or indent them in another way.
 */
function piecesOf(secret: string): readonly string[] {
  const pieces = known.get(secret) ?? [lowerCase(secret), ...formsOf(secret)].flatMap(cut);
  known.set(secret, pieces);
  return pieces;
}

function formsOf(secret: string): readonly string[] {
  return (
    [secret, ...longLinesOf(secret)]
      .flatMap((text) => [text, ...base64(text)])
      .flatMap((text) => [lowerCase(text), unescape(text)])
      // Shorter texts occur elsewhere too.
      .filter(({ length }) => length > 3)
  );
}

const shortestLine = 16;

function longLinesOf(secret: string): readonly string[] {
  const lines = secret.split(/[\r\n]+/);
  return lines.filter((line) => line.length >= shortestLine && !/^-----[A-Z ]+-----$/.test(line));
}

const longestPiece = 64;
/** Neighbouring pieces overlap, so that nothing is left between them. */
const overlap = 8;

function cut(text: string): readonly string[] {
  // The last piece is as long as the others.
  const last = Math.max(0, text.length - longestPiece);
  const count = Math.ceil(last / (longestPiece - overlap)) + 1;
  const starts = Array.from({ length: count }, (_, index) => Math.min(index * (longestPiece - overlap), last));
  return starts.map((start) => text.slice(start, start + longestPiece));
}

/**
 * The base64 and base64url forms inside other bytes, one for each of the three alignments, without the characters at
 * both ends that depend on the other bytes.
 */
function base64(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  return [0, 1, 2].flatMap((before) => {
    const padded = Buffer.concat([Buffer.alloc(before), bytes]);
    const whole = [Math.ceil((before * 8) / 6), Math.floor((padded.length * 8) / 6)] as const;
    return [padded.toString("base64"), padded.toString("base64url")].map((text) => text.slice(...whole));
  });
}

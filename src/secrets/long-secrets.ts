/** Finds a long secret by its pieces, both in a text as it is and in the unescaped text. */
import { base64, hex } from "./encodings.ts";
import { read } from "./unescape.ts";

const longPiece = 64;
const shortestLine = 16;

/**
 * The pieces of a long secret: as it is, in base64 and in hex, and each of these unescaped. If a text cuts the secret
 * off, less than one piece remains. Its lines are split too, because line breaks can be written in many ways; short
 * lines are not, because they occur elsewhere as well.
 */
export function piecesOf(secret: string): readonly string[] {
  const lines = secret
    .split(/[\r\n]+/)
    .filter((line) => line.length >= shortestLine && !/^-----[A-Z ]+-----$/.test(line));
  const texts = [secret, JSON.stringify(secret).slice(1, -1)];
  const codes = texts.flatMap((text) => [...base64(text), hex(text), hex(text).toUpperCase()]);
  const forms = [secret, ...lines, ...codes].flatMap((form) => [form, read(form).text]);
  const pieces = [...new Set(forms)].flatMap((form) =>
    Array.from({ length: Math.ceil(form.length / longPiece) }, (_, at) =>
      // The last piece overlaps the one before it: as long as the others, it occurs nowhere else.
      form.slice(Math.max(0, Math.min(at * longPiece, form.length - longPiece))).slice(0, longPiece),
    ),
  );
  return [...new Set(pieces)].filter(({ length }) => length >= shortestLine);
}

export function withoutPieces(text: string, pieces: readonly string[], hidden: string): string {
  const spans = joined([...spansIn(text, pieces), ...spansAsRead(text, pieces)]);
  const ends = [0, ...spans.map(({ to }) => to)];
  const between = ends.map((end, at) => text.slice(end, spans[at]?.from));
  return between.join(hidden);
}

interface Span {
  readonly from: number;
  readonly to: number;
}

function spansIn(text: string, pieces: readonly string[]): readonly Span[] {
  return joined(pieces.flatMap((piece) => placesOf(piece, text).map((from) => ({ from, to: from + piece.length }))));
}

/** Adjacent pieces are joined before the spans are mapped back: what unescaping removes between them is secret too. */
function spansAsRead(original: string, pieces: readonly string[]): readonly Span[] {
  const { text, places } = read(original);
  const spans = text === original ? [] : spansIn(text, pieces);
  if (spans.length === 0) return [];
  const { begins, ends } = places();
  return spans.map(({ from, to }) => ({ from: begins[from]!, to: ends[to - 1]! }));
}

/** Joins overlapping spans: to remove one piece alone would leave the rest of another. */
function joined(spans: readonly Span[]): readonly Span[] {
  const whole: Span[] = [];
  for (const { from, to } of spans.toSorted((one, other) => one.from - other.from)) {
    const last = whole.at(-1);
    if (last === undefined || from > last.to) whole.push({ from, to });
    else whole[whole.length - 1] = { from: last.from, to: Math.max(last.to, to) };
  }
  return whole;
}

function placesOf(piece: string, text: string): readonly number[] {
  const places: number[] = [];
  for (let at = text.indexOf(piece); at !== -1; at = text.indexOf(piece, at + 1)) places.push(at);
  return places;
}

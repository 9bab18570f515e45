/** Removes secrets from texts, in the forms in which messages and answers contain them. */
import { lowerCase, positionsIn, unescape } from "./unescape.ts";

const hidden = "***";

/** The text with every secret replaced: as it is, in base64, or escaped as in JSON or in URLs, even several times. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  // What stands before or after a secret may form an escape with a part of it, so the text is searched as it is too.
  const pieces = piecesOf(secrets, formsOf, text);
  const spans = [
    ...spansIn(lowerCase(text), pieces),
    ...(mayHaveEscapes.test(text) ? spansInUnescaped(text, pieces, /[^]/) : []),
    ...spansInUnescaped(text, piecesOf(secrets, unbroken, text), /\S/),
  ];
  let shown = "";
  let end = 0;
  for (const { from, to } of spans.toSorted((one, other) => one.from - other.from)) {
    if (from >= end) shown += text.slice(end, from) + hidden;
    end = Math.max(end, to);
  }
  return shown + text.slice(end);
}

/** The unescaped form of a text without these is the text in lower case, which is searched anyway. */
const mayHaveEscapes = /[\\%+]/;

interface Span {
  readonly from: number;
  readonly to: number;
}

/** Searches the characters of the unescaped text that `searched` matches. */
function spansInUnescaped(original: string, pieces: readonly string[], searched: RegExp): readonly Span[] {
  if (pieces.length === 0) return [];
  const characters = unescape(original).split("");
  const places = [...characters.keys()].filter((at) => searched.test(characters[at]!));
  const spans = spansIn(places.map((at) => characters[at]).join(""), pieces);
  if (spans.length === 0) return [];
  const { begins, ends } = positionsIn(original);
  return spans.map(({ from, to }) => ({ from: begins[places[from]!]!, to: ends[places[to - 1]!]! }));
}

function spansIn(text: string, pieces: readonly string[]): readonly Span[] {
  return pieces.flatMap((piece) => {
    const spans: Span[] = [];
    for (let from = text.indexOf(piece); from !== -1; from = text.indexOf(piece, from + 1))
      spans.push({ from, to: from + piece.length });
    return spans;
  });
}

const known = new Map<(secret: string) => readonly string[], Map<string, readonly string[]>>();

/**
 * What to search for. A long form is cut into pieces, because a text may cut it off. Forms that are longer than the text
 * are left out.
 */
function piecesOf(
  secrets: readonly string[],
  forms: (secret: string) => readonly string[],
  { length: most }: string,
): readonly string[] {
  const pieces = known.get(forms) ?? new Map<string, readonly string[]>();
  known.set(forms, pieces);
  for (const secret of secrets) if (!pieces.has(secret)) pieces.set(secret, forms(secret).flatMap(cut));
  const all = new Set(secrets.flatMap((secret) => pieces.get(secret)!));
  return [...all].filter(({ length }) => length > 0 && length <= most);
}

/** For a text in lower case, and for the unescaped text. */
function formsOf(secret: string): readonly string[] {
  const forms = [secret, ...longLinesOf(secret)]
    .flatMap((text) => [text, ...base64(text)])
    .flatMap((text) => [text, unescape(text), ...twice(inJson, text), ...twice(inUrl, text)])
    .map(lowerCase);
  // Shorter texts occur elsewhere too.
  return [lowerCase(secret), ...forms.filter(({ length }) => length > 3)];
}

/** A long secret, or one of several lines, without white space: a text may break or indent its lines in another way. */
function unbroken(secret: string): readonly string[] {
  const body = secret.replace(/^-----[A-Z ]+-----$/gm, "");
  return secret.length > longestPiece || /[\r\n]/.test(secret.trim()) ? [unescape(body).replaceAll(/\s+/g, "")] : [];
}

function twice(escape: (text: string) => string, text: string): readonly string[] {
  return [escape(text), escape(escape(text))];
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function inUrl(text: string): string {
  return encodeURIComponent(text.toWellFormed());
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

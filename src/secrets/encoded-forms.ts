/** Removes secrets from texts, in the forms in which messages and answers contain them. */
import { lowerCase, positionsIn, unescape } from "./unescape.ts";

const hidden = "***";

/** The text with every secret replaced: as it is, in base64, or escaped as in JSON or in URLs, even several times. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  // What stands before or after a secret may form an escape with a part of it, so the text is searched as it is too.
  const pieces = piecesOf(secrets, formsOf);
  const spans = [
    ...spansIn(lowerCase(text), pieces),
    ...(mayHaveEscapes.test(text) ? spansInUnescaped(text, pieces, /[^]/) : []),
    ...spansInUnescaped(text, piecesOf(secrets, unbroken), /\S/),
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

interface TextSpan {
  readonly from: number;
  readonly to: number;
}

/** Searches the characters of the unescaped text that `searched` matches. */
function spansInUnescaped(original: string, pieces: Pieces, searched: RegExp): readonly TextSpan[] {
  if (pieces.all.length === 0) return [];
  const characters = unescape(original).split("");
  const places = [...characters.keys()].filter((at) => searched.test(characters[at]!));
  const spans = spansIn(places.map((at) => characters[at]).join(""), pieces);
  if (spans.length === 0) return [];
  const { begins, ends } = positionsIn(original);
  return spans.map(({ from, to }) => ({ from: begins[places[from]!]!, to: ends[places[to - 1]!]! }));
}

function spansIn(text: string, { all, byStart }: Pieces): readonly TextSpan[] {
  const spans: TextSpan[] = [];
  const add = (from: number, { length }: string) => spans.push({ from, to: from + length });
  // Searching a text for each piece is faster, unless there are thousands, as with many databases that have own keys.
  if (all.length <= mostSearched)
    for (const piece of all)
      for (let from = text.indexOf(piece); from !== -1; from = text.indexOf(piece, from + 1)) add(from, piece);
  else
    for (let from = 0; from < text.length; from++)
      for (const piece of byStart().get(text.slice(from, from + startLength)) ?? [])
        if (text.startsWith(piece, from)) add(from, piece);
  return spans;
}

const mostSearched = 300;
/** No piece is shorter if there are many: secrets of this process have at least twice as many characters. */
const startLength = 4;

/** What to search for. */
interface Pieces {
  readonly all: readonly string[];
  /** By their first characters. */
  readonly byStart: () => ReadonlyMap<string, readonly string[]>;
}

type Forms = (secret: string) => readonly string[];

const known = new WeakMap<readonly string[], Map<Forms, Pieces>>();
const piecesOfSecret = new Map<Forms, Map<string, readonly string[]>>();

/** A long form is cut into pieces, because a text may cut it off. */
function piecesOf(secrets: readonly string[], forms: Forms): Pieces {
  const ofSecrets = known.get(secrets) ?? new Map<Forms, Pieces>();
  known.set(secrets, ofSecrets);
  const pieces = ofSecrets.get(forms) ?? makePieces(secrets, forms);
  ofSecrets.set(forms, pieces);
  return pieces;
}

function makePieces(secrets: readonly string[], forms: Forms): Pieces {
  const ofSecret = piecesOfSecret.get(forms) ?? new Map<string, readonly string[]>();
  piecesOfSecret.set(forms, ofSecret);
  for (const secret of secrets) if (!ofSecret.has(secret)) ofSecret.set(secret, forms(secret).flatMap(cut));
  const found = new Set(secrets.flatMap((secret) => ofSecret.get(secret)!));
  const all = [...found].filter(({ length }) => length > 0);
  let byStart: ReadonlyMap<string, readonly string[]> | undefined;
  return { all, byStart: () => (byStart ??= Map.groupBy(all, (piece) => piece.slice(0, startLength))) };
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

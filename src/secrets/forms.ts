/** A secret in every form that programs give to a text. */

const hidden = "***";

/**
 * Whatever a service echoes, and however it writes it, a secret is not repeated: as it is, in base64 or hex, or with any
 * of its characters escaped as in JSON (also JSON inside JSON), in URLs or in HTML.
 */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  // The longest first: a shorter one inside it would leave the rest.
  return secrets.toSorted((one, other) => other.length - one.length).reduce(hide, text);
}

/** Longer ones are looked for in fewer forms: an expression for all of them would take hundreds of megabytes. */
const longestTolerant = 250;
const longPiece = 64;
const shortestLine = 16;

const expressions = new Map<string, RegExp>();
const pieces = new Map<string, readonly string[]>();

function hide(text: string, secret: string): string {
  if (secret.length > longestTolerant) return withoutPieces(text, remembered(pieces, secret, piecesOf));
  // No form is shorter than what it stands for, and most lines are short.
  return text.length < secret.length ? text : text.replace(remembered(expressions, secret, expressionOf), hidden);
}

function remembered<Value>(known: Map<string, Value>, secret: string, make: (secret: string) => Value): Value {
  const value = known.get(secret) ?? make(secret);
  known.set(secret, value);
  return value;
}

function expressionOf(secret: string): RegExp {
  return new RegExp([secret, ...base64(secret), hex(secret)].map(tolerant).join("|"), "gi");
}

/**
 * The parts of a long secret as it is, in JSON, in a URL, in base64 and in hex: whoever cuts it off leaves less than one.
 * Its lines are parts too, since there are many ways to write what is between them; short ones stand elsewhere as well.
 */
function piecesOf(secret: string): readonly string[] {
  const lines = secret
    .split(/[\r\n]+/)
    .filter((line) => line.length >= shortestLine && !/^-----[A-Z ]+-----$/.test(line));
  const texts = [secret, inJson(secret)];
  const forms = [
    ...texts,
    ...texts.flatMap((text) => [...base64(text), hex(text)]),
    ...[secret, ...lines].map(inUrl),
    ...lines,
  ];
  return [...new Set(forms)].flatMap((form) =>
    Array.from({ length: Math.ceil(form.length / longPiece) }, (_, at) =>
      // The last has the same length as the others, so that it stands nowhere else.
      form.slice(Math.max(0, Math.min(at * longPiece, form.length - longPiece))).slice(0, longPiece),
    ),
  );
}

/** All at once, because they overlap: to take one out would leave the rest of another. */
function withoutPieces(text: string, pieces: readonly string[]): string {
  const spans = pieces.flatMap((piece) => placesOf(piece, text).map((from) => ({ from, to: from + piece.length })));
  let shown = "";
  let end = 0;
  for (const { from, to } of spans.toSorted((one, other) => one.from - other.from)) {
    if (from > end || end === 0) shown += text.slice(end, from) + hidden;
    end = Math.max(end, to);
  }
  return shown + text.slice(end);
}

function placesOf(piece: string, text: string): readonly number[] {
  const places: number[] = [];
  for (let at = text.indexOf(piece); at !== -1; at = text.indexOf(piece, at + 1)) places.push(at);
  return places;
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function inUrl(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    return text;
  }
}

/** What base64 of it looks like in the middle of other bytes: three ways, without the ends that depend on those. */
function base64(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  const cores = [0, 1, 2].flatMap((before) => {
    const padded = Buffer.concat([Buffer.alloc(before), bytes]);
    const whole = [Math.ceil((before * 8) / 6), Math.floor((padded.length * 8) / 6)] as const;
    return [padded.toString("base64"), padded.toString("base64url")].map((text) => text.slice(...whole));
  });
  return [...new Set(cores)].filter((core) => core.length > 3);
}

function hex(secret: string): string {
  return Buffer.from(secret).toString("hex");
}

function tolerant(secret: string): string {
  // Only from the first of a row of backslashes on: to try it from each of them takes for ever.
  return [...secret].map((character, at) => anyForm(character, at === 0 ? "(?<!\\\\)" : "")).join("");
}

const named: Readonly<Record<string, string>> = {
  "&": "&(?:amp;)+",
  "<": "&(?:amp;)*lt;",
  ">": "&(?:amp;)*gt;",
  '"': "&(?:amp;)*quot;",
  "'": "&(?:amp;)*apos;",
  " ": "\\+",
  "\n": "\\\\+n",
  "\r": "\\\\+r",
  "\t": "\\\\+t",
};

function anyForm(character: string, before: string): string {
  const code = character.codePointAt(0)!;
  const hex = code.toString(16).padStart(2, "0");
  const plain = character.replace(/[\\^$.*+?()[\]{}|/]/, "\\$&");
  const bytes = [...Buffer.from(character)].map((byte) => `%(?:25)*${byte.toString(16).padStart(2, "0")}`).join("");
  const units = Array.from(
    { length: character.length },
    (_, at) => `\\\\+u${character.charCodeAt(at).toString(16).padStart(4, "0")}`,
  ).join("");
  const forms = [
    `${before}\\\\*${plain}`,
    `${before}${units}`,
    `${before}\\\\+u\\{0*${hex}\\}`,
    ...(code < 256 ? [`${before}\\\\+x${hex}`] : []),
    bytes,
    `&(?:amp;)*#(?:0*${code}|x0*${hex});`,
    ...(named[character] === undefined ? [] : [named[character]]),
  ];
  return `(?:${forms.join("|")})`;
}

/** Removes secrets from texts, in every form in which programs write them. */

import { base64, hex } from "./encodings.ts";
import { piecesOf, withoutPieces } from "./long-secrets.ts";

const hidden = "***";

/**
 * The text with every secret replaced, however a service echoes it: as it is, in base64 or hex, or with any of its
 * characters escaped as in JSON (also JSON inside JSON), in URLs or in HTML.
 */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  // The longest first: replacing a shorter secret inside a longer one would leave the rest.
  return secrets.toSorted((one, other) => other.length - one.length).reduce(hide, text);
}

/** Longer secrets are searched for in pieces: an expression for all forms of one would take hundreds of megabytes. */
const longestTolerant = 250;

const expressions = new Map<string, RegExp>();
const pieces = new Map<string, readonly string[]>();

function hide(text: string, secret: string): string {
  if (secret.length > longestTolerant) return withoutPieces(text, remembered(pieces, secret, piecesOf), hidden);
  // No form is shorter than the secret itself, and most lines are short.
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

function tolerant(secret: string): string {
  // A match may begin only at the first of several backslashes: to try each of them would take far too long.
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

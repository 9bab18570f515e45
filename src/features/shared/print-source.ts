/** Lays out TypeScript in lines as the common formatters do. Pure. */
import { endOf, flat, keyText, textText, type CallSource, type Source } from "../../schema/text/typescript-source.ts";

export { textText } from "../../schema/text/typescript-source.ts";

export const width = 80;

/** The width of a text on a screen: letters of some alphabets are twice as wide, and combining marks take no place. */
export function textWidth(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let sum = 0;
  for (const letter of text) sum += /[\p{Mn}\p{Me}\p{Cf}]/u.test(letter) ? 0 : wide.test(letter) ? 2 : 1;
  return sum;
}

const wide =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\u3000-\u303f\uff01-\uff60]/u;

interface PrintCursor {
  /** Spaces in front of the line on which the source begins. */
  readonly indent: number;
  /** How many columns of that line are taken before it. */
  readonly used: number;
  /** How many columns its last line must leave free for what follows. */
  readonly tail: number;
  /** The prefix of names that the package exports: none, or `m.`. */
  readonly prefix: string;
}

/** An import of names, in one line if they fit. */
export function importLine(names: readonly string[], from: string): string {
  const end = `} from ${textText(from)};`;
  const inOneLine = `import { ${names.join(", ")} ${end}`;
  return inOneLine.length <= width ? inOneLine : `import {\n${names.map((name) => `  ${name},\n`).join("")}${end}`;
}

/** The names that the source needs from the package. */
export function namesIn(source: Source): readonly string[] {
  switch (source.kind) {
    case "value":
      return [];
    case "call":
      return [source.name, ...source.args.flatMap(namesIn)];
    case "array":
      return source.items.flatMap(namesIn);
    case "object":
      return source.entries.flatMap(([, value]) => namesIn(value));
  }
}

export function layOut(source: Source, place: PrintCursor): string {
  const { indent, used, tail, prefix } = place;
  const inOneLine = flat(source, prefix);
  if (!hasToBreak(source) && used + textWidth(inOneLine) + tail <= width) return inOneLine;
  const inner = (one: Source, before = "") =>
    layOut(one, { indent: indent + 2, used: indent + 2 + textWidth(before), tail: 1, prefix });
  switch (source.kind) {
    case "value":
      return inOneLine;
    case "object":
      if (source.entries.length === 0) return inOneLine;
      return block(
        "{",
        source.entries.map(([key, value]) => entry(keyText(key), value, indent + 2, inner)),
        "}",
        indent,
      );
    case "array":
      if (source.items.length === 0) return inOneLine;
      if (source.items.every(isNumber)) return block("[", filled(source.items, place), "]", indent, "");
      return block(
        "[",
        source.items.map((item) => inner(item)),
        "]",
        indent,
      );
    case "call":
      return callInLines(source, place, inner);
  }
}

/**
 * The last argument begins on the first line if it is an object or a list, and the other arguments fit on that line.
 */
function callInLines(
  source: CallSource,
  { indent, used, tail, prefix }: PrintCursor,
  inner: (one: Source) => string,
): string {
  const { name, args } = source;
  const end = endOf(source);
  const last = args.at(-1);
  if (last === undefined) return flat(source, prefix);
  const before = args.slice(0, -1);
  const start = `${prefix}${name}(${before.map((one) => `${flat(one, prefix)}, `).join("")}`;
  const opens = (last.kind === "object" && last.entries.length > 0) || (last.kind === "array" && last.items.length > 0);
  const mayHug = opens && before.at(-1)?.kind !== last.kind && !before.some(hasToBreak);
  if (mayHug && used + textWidth(start) + 1 <= width)
    return `${start}${layOut(last, { indent, used: used + textWidth(start), tail: tail + end.length, prefix })}${end}`;
  const lines = args.map((one) => inner(one));
  return block(`${prefix}${name}(`, lines, end, indent);
}

/** A long value goes on a line of its own, unless its key is short. */
function entry(key: string, value: Source, indent: number, inner: (one: Source, before: string) => string): string {
  const text = inner(value, `${key}: `);
  const isLong = value.kind === "value" && indent + textWidth(key) + 2 + textWidth(text) + 1 > width;
  return isLong && textWidth(key) >= 5 ? `${key}:\n${" ".repeat(indent + 2)}${text}` : `${key}: ${text}`;
}

/** `lines` between brackets, each indented and followed by `comma`. */
export function block(open: string, lines: readonly string[], close: string, indent: number, comma = ","): string {
  const pad = " ".repeat(indent + 2);
  return `${open}\n${lines.map((line) => `${pad}${line}${comma}\n`).join("")}${" ".repeat(indent)}${close}`;
}

/** Lines of numbers, as many numbers as fit on each. */
function filled(items: readonly Source[], { indent, prefix }: PrintCursor): readonly string[] {
  const lines: string[] = [];
  for (const text of items.map((item) => `${flat(item, prefix)},`)) {
    const last = lines.at(-1);
    if (last !== undefined && indent + 2 + last.length + 1 + text.length <= width)
      lines[lines.length - 1] = `${last} ${text}`;
    else lines.push(text);
  }
  return lines;
}

/** A list of several objects or lists, each with several values, is never written on one line. */
function hasToBreak(source: Source): boolean {
  switch (source.kind) {
    case "value":
      return false;
    case "call":
      return source.args.some(hasToBreak);
    case "object":
      return source.entries.some(([, value]) => hasToBreak(value));
    case "array": {
      const { items } = source;
      const isTable = items.length > 1 && (items.every(isWideObject) || items.every(isWideArray));
      return isTable || items.some(hasToBreak);
    }
  }
}

function isWideObject(source: Source): boolean {
  return source.kind === "object" && source.entries.length > 1;
}

function isWideArray(source: Source): boolean {
  return source.kind === "array" && source.items.length > 1;
}

function isNumber(source: Source): boolean {
  return source.kind === "value" && typeof source.value === "number";
}

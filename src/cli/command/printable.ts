/**
 * Makes text safe to print. Names, SQL, metadata and answers may come from anybody, and a terminal or a CI server obeys
 * some of what it is given to print.
 */

/** Control and format characters, line separators, halves of characters, and all other invisible ones. */
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu;
/** Azure Pipelines and TeamCity obey `##vso[…]` anywhere in a line, and GitHub Actions obeys `##[…]`. */
const inlineCommand = /##(?=\w{0,20}\[)/g;
/** GitHub Actions obeys `::error::…` at the beginning of a line. */
const lineCommand = /^(\s*):(?=:)/;

const letters: Readonly<Record<string, string>> = { "\n": "n", "\r": "r", "\t": "t" };

/** The text with escapes for what must not be printed, so that it stays on one line. In JSON, the escapes mean the same. */
export function printable(text: string): string {
  return text.replace(inlineCommand, `#${escaped("#")}`).replace(unseen, escaped);
}

/** A whole line made printable. */
export function printableLine(line: string): string {
  return printable(line).replace(lineCommand, `$1${escaped(":")}`);
}

function escaped(character: string): string {
  const letter = letters[character];
  if (letter !== undefined) return `\\${letter}`;
  return character
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");
}

/** Unescapes texts that may contain parts of JSON and of URLs. */

// Each may be escaped again, several times, as in JSON inside JSON. The percent escapes of one non-ASCII character are
// decoded together.
const slash = /(?:(?:\\|%(?:25)*5c)(?:u005c)?)+/.source;
const bytes = /(?:%(?!(?:25)*5c)(?:25)*[0-9a-f]{2})+/.source;
const escape = new RegExp(
  `${slash}u(?<unit>[0-9a-f]{4})|${slash}(?<letter>[nrt])|(?<dropped>${slash})|(?<bytes>${bytes})`,
  "gi",
);
const token = new RegExp(`${escape.source}|[^]`, "gi");

/** A text without its escapes, in lower case, with spaces for plus signs, as forms write spaces. */
export function unescape(text: string): string {
  return lowerCase(text.replace(escape, (...found) => meaning(found.at(-1) as EscapeGroups)).replaceAll("+", " "));
}

/** Where in `text` each character of the unescaped text begins and ends. */
export function positionsIn(text: string): { readonly begins: readonly number[]; readonly ends: readonly number[] } {
  const begins: number[] = [];
  const ends: number[] = [];
  for (const { index, 0: found, groups } of text.matchAll(token)) {
    for (let count = meaning(groups!, found).length; count > 0; count--) {
      begins.push(index);
      ends.push(index + found.length);
    }
  }
  return { begins, ends };
}

type EscapeGroups = Readonly<Record<string, string | undefined>>;

function meaning({ unit, letter, dropped, bytes }: EscapeGroups, plain = ""): string {
  if (unit !== undefined) return String.fromCharCode(Number.parseInt(unit, 16));
  if (letter !== undefined) return { n: "\n", r: "\r", t: "\t" }[letter.toLowerCase()]!;
  if (bytes !== undefined) return Buffer.from(bytes.replace(/%(25)*(?=[0-9a-f]{2})/gi, ""), "hex").toString();
  return dropped === undefined ? plain : "";
}

/** In contrast to `toLowerCase`, it never changes the length. */
export function lowerCase(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

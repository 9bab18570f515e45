/** Unescapes a text: removes the escapes of JSON, URLs and HTML, and everything that may separate lines or words. */

export interface UnescapedText {
  readonly text: string;
  /** Where in the original each character of `text` begins and ends. */
  readonly places: () => { readonly begins: Uint32Array; readonly ends: Uint32Array };
}

/** Each of these may be escaped again, several times, as in JSON inside JSON. Forms write a space as a plus sign. */
const escapes = [
  /\\+u\{(?<braced>[0-9a-f]+)\}/,
  /\\+u(?<unit>[0-9a-f]{4})/,
  /\\+x(?<byte>[0-9a-f]{2})/,
  /(?<gap>[\s+]+|\\+[nrt])/,
  /(?<slashes>\\+)/,
  // The percent escapes of one non-ASCII character are decoded together.
  /(?<wide>(?:%(?:25)*[89a-f][0-9a-f])+)/,
  /%(?:25)*(?<narrow>[0-7][0-9a-f])/,
  /&(?:amp;)*#(?<decimal>\d+);/,
  /&(?:amp;)*#x(?<hexadecimal>[0-9a-f]+);/,
  /&(?:amp;)*(?<name>lt|gt|quot|apos|amp);/,
];
const escape = new RegExp(escapes.map(({ source }) => source).join("|"), "gi");

const named: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };

export function read(original: string): UnescapedText {
  const text = original.replace(escape, (...found) => meaning(found.at(-1) as Groups));
  return { text, places: () => placesIn(original, text.length) };
}

/** Computed only if a secret was found, because most texts contain none. */
function placesIn(original: string, length: number): ReturnType<UnescapedText["places"]> {
  const begins = new Uint32Array(length);
  const ends = new Uint32Array(length);
  let read = 0;
  const add = (begin: number, end: number) => {
    begins[read] = begin;
    ends[read++] = end;
  };
  let at = 0;
  const addPlain = (until: number) => {
    for (; at < until; at++) add(at, at + 1);
  };
  for (const { index, 0: escaped, groups } of original.matchAll(escape)) {
    addPlain(index);
    at += escaped.length;
    for (let count = meaning(groups!).length; count > 0; count--) add(index, at);
  }
  addPlain(original.length);
  return { begins, ends };
}

type Groups = Readonly<Record<string, string | undefined>>;

function meaning({ braced, unit, byte, narrow, wide, decimal, hexadecimal, name }: Groups): string {
  if (wide !== undefined) return Buffer.from(wide.replace(/%(25)*(?=[89a-f])/gi, ""), "hex").toString();
  if (name !== undefined) return named[name.toLowerCase()]!;
  const digits = braced ?? unit ?? byte ?? narrow ?? hexadecimal;
  const code = digits === undefined ? Number(decimal ?? NaN) : Number.parseInt(digits, 16);
  // A space or a plus sign is left out, however it was written.
  return code <= 0x10ffff ? String.fromCodePoint(code).replace(/[\s+]/, "") : "";
}

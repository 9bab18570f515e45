/** Bounds JSON before it is parsed: a parser takes many bytes for each value, and more for each level. */

export interface JsonLimits {
  readonly levels: number;
  readonly values?: number;
}

/** What is too much in a JSON text: it "is nested deeper than 64 levels". Undefined if nothing is, or for another text. */
export function jsonExcess(text: string, { levels, values: most = Infinity }: JsonLimits): string | undefined {
  if (!/^\uFEFF?\s*[[{]/.test(text)) return undefined;
  let level = 0;
  let values = 1;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') at = endOfText(text, at);
    else if (character === "[" || character === "{") {
      if (++level > levels) return `is nested deeper than ${levels} levels`;
      values++;
    } else if (character === "]" || character === "}") level--;
    else if (character === ",") values++;
    if (values > most) return `holds more than ${most.toLocaleString("en-US")} values`;
  }
  return undefined;
}

/** The position of the quote that ends the text that begins here, or the length if none does. */
function endOfText(json: string, start: number): number {
  let at = json.indexOf('"', start + 1);
  while (at !== -1 && isEscaped(json, at)) at = json.indexOf('"', at + 1);
  return at === -1 ? json.length : at;
}

function isEscaped(json: string, quote: number): boolean {
  let backslashes = 0;
  while (json[quote - 1 - backslashes] === "\\") backslashes++;
  return backslashes % 2 === 1;
}

/** Parses the JSON of a request within limits. */
import { invalidInput } from "../tables/error-answer.ts";

const deepestJson = 64;

/** The value of a JSON body; undefined for an empty body, which counts as an empty object. */
export function parseJson(text: string): unknown {
  if (text.trim() === "") return undefined;
  checkDepth(text);
  try {
    // A reviver is slow on long vectors, so it is used only if `__proto__` may occur, escaped or not.
    return /proto|\\u/.test(text) ? JSON.parse(text, withoutPrototypes) : JSON.parse(text);
  } catch {
    throw invalidInput("the body is not well-formed JSON");
  }
}

function withoutPrototypes(key: string, value: unknown): unknown {
  return key === "__proto__" ? undefined : value;
}

function checkDepth(text: string): void {
  let depth = 0;
  let inText = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') inText = !inText;
    else if (inText && character === "\\") at++;
    else if (!inText && (character === "[" || character === "{")) {
      if (++depth > deepestJson) throw invalidInput(`the body is nested deeper than ${deepestJson} levels`);
    } else if (!inText && (character === "]" || character === "}")) depth--;
  }
}

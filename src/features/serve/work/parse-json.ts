/** Parses the JSON of a request within limits. */
import { jsonExcess } from "../../../wire/json-limits.ts";
import { invalidInput } from "../tables/error-answer.ts";

const limits = { levels: 64 };

/** The value of a JSON body; undefined for an empty body, which counts as an empty object. */
export function parseJson(text: string): unknown {
  if (text.trim() === "") return undefined;
  const excess = jsonExcess(text, limits);
  if (excess !== undefined) throw invalidInput(`the body ${excess}`);
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

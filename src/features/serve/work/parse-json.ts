/** Parses the JSON of a request within limits. */
import { jsonExcess } from "../../../wire/json-limits.ts";
import { invalidInput } from "../tables/error-answer.ts";

const limits = { levels: 64 };

/** The value of a JSON body; undefined for an empty body, which counts as an empty object. */
export function parseJson(text: string): unknown {
  if (text.trim() === "") return undefined;
  const excess = jsonExcess(text, limits);
  if (excess !== undefined) throw invalidInput(`the body ${excess}`);
  const value = parsed(text);
  if (/proto|\\u/.test(text)) refusePrototypes(value);
  return value;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalidInput("the body is not well-formed JSON");
  }
}

/** Copies of an object would lose such a field, so that it would be ignored. */
function refusePrototypes(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  if (Object.hasOwn(value, "__proto__")) throw invalidInput('no field or name may be "__proto__"');
  Object.values(value).forEach(refusePrototypes);
}

/** Parsers of request bodies: JSON within limits, and Arrow IPC data, which stays bytes. */
import type { FastifyInstance } from "fastify";
import { jsonType, streamType } from "../wire/content-types.ts";
import { invalidInput } from "./tables/error-answer.ts";

/** In bytes. No request needs more; a query with a thousand vectors stays far below. */
const jsonLimit = 16 * 2 ** 20;
const deepestJson = 64;

/** Adds both parsers. fastify counts the bytes of a body as they arrive and gives up at the limit. */
export function addBodyParsers(app: FastifyInstance, bodyLimit: number): void {
  app.removeAllContentTypeParsers();
  const json = { parseAs: "string", bodyLimit: Math.min(jsonLimit, bodyLimit) } as const;
  app.addContentTypeParser<string>(jsonType, json, (_request, text, done) => {
    try {
      done(null, parseJson(text));
    } catch (error) {
      done(error as Error); // only refusals are thrown
    }
  });
  app.addContentTypeParser<Buffer>(streamType, { parseAs: "buffer", bodyLimit }, (_request, bytes, done) => {
    done(null, bytes);
  });
}

/** The value of a JSON body; undefined for an empty body, which counts as an empty object. */
function parseJson(text: string): unknown {
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

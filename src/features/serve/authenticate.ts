/** Checks the key and the database of a request, before its body is read and for unknown paths too. */
import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { invalidInput, refuse } from "./tables/error-answer.ts";

/** The two names of one header: that of the service's documentation, and the one that the official client sends. */
const databaseHeaders = ["x-service-database", "x-lancedb-database"] as const;

export interface GuardOptions {
  /** The key that every request must send in x-api-key. */
  readonly apiKey: string;
  /** If given, every request must name it in x-service-database or x-lancedb-database. */
  readonly database?: string | undefined;
}

/** Gives a function that reports what is wrong with a request's headers, or undefined. */
export function createGuard({ apiKey, database }: GuardOptions): (headers: IncomingHttpHeaders) => Error | undefined {
  const wanted = digest(apiKey);
  // Made once: an error costs more than all else that is done for a request without a key.
  const missing = refuse(401, "unauthenticated", "the header x-api-key is missing; it must hold the API key");
  const invalid = refuse(401, "unauthenticated", "the API key in the header x-api-key is not valid");
  return (headers) => {
    const key = headers["x-api-key"];
    if (typeof key !== "string" || key === "") return missing;
    // Digests have the same length, so the time reveals neither the key's length nor the first wrong character.
    if (!timingSafeEqual(digest(key), wanted)) return invalid;
    return database === undefined ? undefined : databaseProblem(headers, database);
  };
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

function databaseProblem(headers: IncomingHttpHeaders, database: string): Error | undefined {
  const sent = databaseHeaders.filter((name) => headers[name] !== undefined);
  if (sent.length === 0)
    return invalidInput(`the header ${databaseHeaders.join(" or ")} is missing; it must name the database`);
  const wrong = sent.find((name) => headers[name] !== database);
  if (wrong === undefined) return undefined;
  const named = JSON.stringify(String(headers[wrong]).slice(0, 100));
  return invalidInput(`the header ${wrong} names the database ${named}, which this service does not have`);
}

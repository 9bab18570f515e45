/**
 * Objects in requests, of which every member is known. Others are refused: if the service ignored a misspelt filter, it
 * would change every row.
 */
import { z } from "zod";
import { similarName } from "../../../schema/names.ts";
import { unsupported } from "../tables/error-answer.ts";

type FieldShapes = Readonly<Record<string, z.ZodType>>;

/** A field that changes nothing here, whatever it holds. */
export const ignored = z.unknown().optional();

/** A field that clients send, and whose usual or empty values alone mean what this service does. */
export function only(usual: readonly unknown[], what: string) {
  return z
    .unknown()
    .optional()
    .transform((value) => {
      if (!isEmpty(value) && !usual.includes(value)) throw unsupported(what);
    });
}

function isEmpty(value: unknown): boolean {
  return (
    value === undefined ||
    value === null ||
    value === "" ||
    (typeof value === "object" && Object.keys(value).length === 0)
  );
}

/** What clients of the namespace may send with every body. check-request.ts compares `id` with the path. */
const protocolFields = { id: ignored, identity: ignored, context: ignored, branch: only(["main"], "branches") };

/** What may be in the query of every request. check-request.ts checks both. */
const protocolParameters = { delimiter: ignored, branch: ignored };

/**
 * A JSON body; a missing one counts as an empty object. `also` has the fields that only some clients send; a refusal does
 * not list them.
 */
export function json<Own extends FieldShapes, Also extends FieldShapes = Record<never, never>>(own: Own, also?: Also) {
  const known = { ...protocolFields, ...(also ?? ({} as Also)), ...own };
  return z.strictObject(known, { error: problemWith("field", own) }).prefault({} as never);
}

/** The query of a request that may lose data if a parameter is ignored. The web framework gives it as an object. */
export function parameters<Own extends FieldShapes, Also extends FieldShapes = Record<never, never>>(
  own: Own,
  also?: Also,
) {
  const known = { ...protocolParameters, ...(also ?? ({} as Also)), ...own };
  return z.strictObject(known, { error: problemWith("parameter", own) });
}

/** An object inside a body. */
export function object<Own extends FieldShapes>(own: Own) {
  return z.strictObject(own, { error: problemWith("field", own) });
}

function problemWith(kind: "field" | "parameter", own: FieldShapes) {
  return (issue: z.core.$ZodRawIssue): string => {
    if (issue.code !== "unrecognized_keys") return "must be a JSON object";
    const name = issue.keys[0]!;
    const place = [...(issue.path ?? []), name].join(".");
    return `there is no ${kind} ${JSON.stringify(place)}; ${hint(name, Object.keys(own))}`;
  };
}

function hint(name: string, known: readonly string[]): string {
  const similar = similarName(name, known);
  if (similar !== undefined) return `did you mean ${JSON.stringify(similar)}?`;
  if (known.length === 0) return "the route has none of its own";
  return `known ${known.length === 1 ? "is" : "are"} ${new Intl.ListFormat("en-GB").format(known)}`;
}

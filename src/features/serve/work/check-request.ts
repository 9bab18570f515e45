/** Checks every request before its route sees it. */
import type { IncomingHttpHeaders } from "node:http";
import { z } from "zod";
import { jsonType, streamType } from "../../../wire/content-types.ts";
import { invalidInput, refuse, unsupported } from "../tables/error-answer.ts";
import type { Route } from "../routes/route.ts";
import { checkNamespace } from "../tables/table-name.ts";

/** Checks what a request contains about its table besides the path. Throws a refusal. */
export function checkTarget(name: string, query: Readonly<Record<string, unknown>>, body: unknown): void {
  const { delimiter } = query;
  if (typeof delimiter === "string" && delimiter !== "") checkNamespace(name, delimiter);
  if (query["branch"] !== undefined && query["branch"] !== "main") throw unsupported("branches");
  const { id } = (body ?? {}) as { readonly id?: unknown };
  if (Array.isArray(id) && (id.length !== 1 || id[0] !== name))
    throw invalidInput(`the id in the body is not that of the path, ${name}`);
}

interface ContentRequest {
  readonly headers: IncomingHttpHeaders;
  readonly method: string;
}

/** Called before the body is read. Throws a refusal. */
export function checkContentType({ headers, method }: ContentRequest, accepts: Route["accepts"]): void {
  const encoding = headers["content-encoding"];
  if (encoding !== undefined && encoding !== "identity")
    throw refuse(415, "invalidInput", "the content-encoding is not identity; compress inside the Arrow data instead");
  const type = headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase();
  if (type === undefined && accepts !== "arrow") return;
  const taken = [
    ...(accepts === "arrow" ? [] : [jsonType]),
    ...(accepts === "json" || accepts === "nothing" ? [] : [streamType]),
  ];
  const empty = headers["content-length"] === "0" || method === "GET";
  if (type !== undefined && (taken.includes(type) || (empty && accepts !== "arrow"))) return;
  throw refuse(415, "invalidInput", `the content-type must be ${taken.join(" or ")}`);
}

/** The value as its schema gives it. Throws the first problem. */
export function checked(schema: z.ZodType, value: unknown, part: string): unknown {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map(meant);
  // Reported first, since it may be a misspelling of a field that is missing.
  const unknown = issues.find(({ code }) => code === "unrecognized_keys");
  if (unknown !== undefined) throw invalidInput(unknown.message);
  const issue = issues[0]!;
  const problem = issue.message.replace(/^Invalid input: expected (\w+).*/, "must be of type $1");
  const place = issue.path.join(".") || (part === "body" ? "the body" : "");
  throw invalidInput(part === "params" ? problem : `${place} ${problem}`.trim());
}

/** Of a value that may have several forms: the problem of the form that it was meant to have, if it has the type of one. */
function meant(issue: z.core.$ZodIssue): z.core.$ZodIssue {
  const inside = issue.code === "invalid_union" ? issue.errors.flat().map(meant) : [];
  const unknown = inside.find(({ code }) => code === "unrecognized_keys");
  const best = unknown ?? inside.find(({ path }) => path.length > 0);
  return best === undefined ? issue : { ...best, path: [...issue.path, ...best.path] };
}

/** What is wrong with an answer, as text; undefined if nothing is. */
import { rowsInFile } from "../../src/wire/arrow/ipc-file.ts";
import { fileType, jsonType, streamType } from "../../src/wire/content-types.ts";
import type { DrawnRequest } from "./draw/requests.ts";
import type { Answer, Outcome } from "./send.ts";

/** What no answer may contain. */
export interface Secrets {
  readonly apiKey: string;
  readonly folder: string;
}

/** How Rust prints errors and values, and where JavaScript was when it threw. */
const dump =
  /\.rs\b|\w+Error\(|LanceError|panicked|\bSome\(|\bNone\b|\b(Schema|Field|Column|Expr|Literal|TableReference) ?[({]|Caused by|\bat .*\.[jt]s:\d|GenericFailure|\[object |undefined/;

/** How the engine names types. */
const typeWords = /\b(Timestamp|Time\d+|Duration)\([^)]*\)/g;

export function answerProblem(request: DrawnRequest, outcome: Outcome, secrets: Secrets): string | undefined {
  const isOwed = ["whole", "slowly", "chunked"].includes(request.sending);
  if (outcome === undefined) return isOwed ? "no answer" : undefined;
  if (typeof outcome === "string") return isOwed ? outcome : undefined;
  for (const [what, text] of Object.entries(secrets))
    if (outcome.body.includes(text) && !request.body.includes(text)) return `the answer contains the ${what}`;
  if (request.method === "HEAD") return undefined;
  return outcome.status < 400 ? dataProblem(outcome) : errorProblem(outcome);
}

function dataProblem({ status, headers, body }: Answer): string | undefined {
  if (status !== 200) return `status ${status}`;
  try {
    const type = headers["content-type"] ?? "";
    if (type.startsWith(jsonType)) JSON.parse(body.toString());
    else if (type === streamType || type === fileType) rowsInFile(body);
    else return `content-type ${type}`;
    return undefined;
  } catch (error) {
    return `the data can't be read: ${String(error).slice(0, 200)}`;
  }
}

function errorProblem({ body }: Answer): string | undefined {
  const text = body.toString();
  try {
    const { code, error, instance } = JSON.parse(text) as Readonly<Record<string, unknown>>;
    if (typeof code !== "number" || typeof error !== "string" || typeof instance !== "string")
      return `an error of another form: ${text.slice(0, 300)}`;
    if (error === "" || error.length > 1_200 || /[\n\r]/.test(error)) return `not one sentence: ${error.slice(0, 300)}`;
    return undefined;
  } catch {
    return `an error that is not JSON: ${text.slice(0, 300)}`;
  }
}

/** The part of an error that looks as a program prints it; undefined if none does. */
export function dumpIn(answer: Answer, request: DrawnRequest): string | undefined {
  if (answer.status < 400 || request.method === "HEAD") return undefined;
  const { error } = JSON.parse(answer.body.toString()) as { readonly error: string };
  const found = dump.exec(error.replaceAll(typeWords, ""))?.[0];
  // The engine repeats names and texts that it was given.
  const given = `${request.body.toString()} ${request.path}`;
  return found === undefined || given.includes(found) ? undefined : error.slice(0, 300);
}

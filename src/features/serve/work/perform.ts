/** Performs a request: parses its body, checks it, and calls the handler of its route. */
import { firstLine } from "../../../errors/migrate-error.ts";
import { jsonType } from "../../../wire/content-types.ts";
import { checked, checkTarget } from "./check-request.ts";
import { routes } from "../routes/index.ts";
import { arrowOf, isIpcAnswer, type Protocol } from "../routes/route.ts";
import { invalidInput, problemOfError, type Problem } from "../tables/error-answer.ts";
import { checkDataFolder, type DataFolder } from "../tables/data-folder.ts";
import type { ServedTables } from "../tables/open-tables.ts";
import { collect, readBody, type Body } from "./body.ts";
import { parseJson } from "./parse-json.ts";

/** A request whose head is checked. It is sent to a worker, so it is plain data. */
export interface Job {
  /** The place of its route in `routes`. */
  readonly route: number;
  /** Names the file of a large answer. */
  readonly answerId: string;
  /** As it was sent, without the query. */
  readonly path: string;
  readonly userAgent?: string | undefined;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body?: SentBody | undefined;
}

export interface SentBody {
  readonly type: "json" | "arrow";
  readonly body: Body;
}

export type JobOutcome = { readonly contentType: string; readonly body: Body } | JobFailure;

export interface JobFailure {
  readonly problem: Problem;
  /** What the log reports to the operator, but the answer does not report to the client. */
  readonly cause?: string;
}

export interface JobLimits {
  /** The largest body of a request, in bytes. */
  readonly bodyLimit: number;
  /** The largest answer, in bytes. */
  readonly answerLimit: number;
}

/** Compressed data may unpack to at most this many times the size of the largest body. */
const largestGrowth = 4;

/** Never throws. `open` gives the tables of the folder. */
export async function perform(
  job: Job,
  { data, ...limits }: JobLimits & { readonly data: DataFolder },
  open: () => Promise<ServedTables>,
): Promise<JobOutcome> {
  try {
    // Here, since the job may have waited for long.
    checkDataFolder(data);
    return await answerTo(job, data, await open(), limits);
  } catch (error) {
    return failureOf(error, data.path);
  }
}

export function failureOf(error: unknown, folder: string): JobFailure {
  const problem = problemOfError(error, folder);
  return problem.status === 500 ? { problem, cause: firstLine(error) } : { problem };
}

async function answerTo(job: Job, data: DataFolder, tables: ServedTables, limits: JobLimits) {
  const { route, answerId, params, query, body: sent } = job;
  const { handler, body: schema } = routes[route]!;
  const bytes = sent && readBody(sent.body);
  const isArrow = sent?.type === "arrow";
  const json = isArrow || bytes === undefined ? undefined : parseJson(bytes.toString());
  const name = params["name"] ?? "";
  if ("name" in params) checkTarget(name, query, json);
  const answer = await handler({
    tables,
    params,
    name,
    query,
    protocol: protocolOf(job, json),
    body: isArrow ? undefined : checked(schema, json, "body"),
    hasArrow: isArrow,
    arrow: () => arrowOf(isArrow ? bytes : undefined, largestGrowth * limits.bodyLimit),
  });
  const { contentType, chunks } = isIpcAnswer(answer)
    ? answer
    : { contentType: jsonType, chunks: onlyChunk(Buffer.from(JSON.stringify(answer ?? {}))) };
  return {
    contentType,
    body: await collect(chunks, data, limits.answerLimit, () => tooLarge(limits), answerId),
  };
}

/**
 * Clients of the open namespace send a delimiter with every request, or the table's id in the body; those generated from
 * its specification may send neither, but name their generator (measured).
 */
function protocolOf({ path, query, userAgent = "" }: Job, json: unknown): Protocol {
  if (path.endsWith("/")) return "lancedb";
  const hasId = typeof json === "object" && json !== null && "id" in json;
  const isNamespace = hasId || "delimiter" in query || userAgent.startsWith("OpenAPI-Generator/");
  return isNamespace ? "namespace" : "document";
}

function tooLarge({ answerLimit }: JobLimits): Error {
  return invalidInput(`the answer is larger than ${answerLimit} bytes; ask for fewer rows with limit and offset`);
}

async function* onlyChunk(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

/** Sends requests to a service. Requests that change something are sent once; requests that read are retried. */
import { randomUUID } from "node:crypto";
import { getCACertificates } from "node:tls";
import { isMigrateError, MigrateError } from "../../../errors/migrate-error.ts";
import packageJson from "../../../../package.json" with { type: "json" };
import { jsonType } from "../../../wire/content-types.ts";
import { jsonExcess } from "../../../wire/json-limits.ts";
import { systemClock } from "../../../time/clock.ts";
import { patience, retry } from "../../../targets/contract/retry.ts";
import type { CallOutcome } from "../../../targets/contract/target.ts";
import { makeDispatcher, type Dispatcher } from "./undici.ts";
import type { RestSettings } from "../options/options.ts";
import { answerProblem, connectionProblem, isWorthAnotherRead, pauseAskedFor, excessiveAnswer } from "./http-errors.ts";
import { proxiesOf, proxyVariables, type Proxies } from "./proxies.ts";
import { withoutData } from "../../../secrets/redact.ts";
import type { HttpRequest, HttpResponse } from "./message.ts";

/** A read that takes longer is given up. A write, such as a retype, may take the whole `answerTimeout`. */
const longestRead = 60_000;

/** `read` and `write` throw a MigrateError for anything but a 2xx. */
export function openHttp(settings: RestSettings) {
  const { connections, environment, release } = connectionsFor(settings);
  let answered = false;

  const send = async (request: HttpRequest, id: string, limit: number): Promise<HttpResponse> => {
    if (settings.missing !== undefined) throw settings.missing;
    const [method, path] = request.endpoint.split(" ") as [Dispatcher.HttpMethod, string];
    const { origin, pathname } = new URL(settings.base);
    const { dispatcher, proxied } = (connections.opened ??= openConnections(settings, environment));
    const deadline = new AbortController();
    // Not AbortSignal.timeout, which keeps all of a request in memory until its time is over.
    const timer = setTimeout(() => deadline.abort(new DOMException("no answer", "TimeoutError")), limit).unref();
    try {
      const answering = (await dispatcher).request({
        origin,
        path: `${pathname === "/" ? "" : pathname}${path}`,
        method,
        headers: {
          "user-agent": `${packageJson.name}/${packageJson.version}`,
          "x-request-id": id,
          "content-type": request.body?.type ?? jsonType,
          ...settings.headers,
        },
        body: request.body?.bytes ?? null,
        signal: deadline.signal,
      });
      // The signal does not end a request to a proxy that accepts the connection and never answers.
      const { statusCode, headers, body } = await Promise.race([answering, failure(deadline.signal)]);
      answered = true;
      const excessive = (problem: string) => excessiveAnswer(request, settings, statusCode, problem);
      const collected = isSuccess(statusCode)
        ? await collect(body, excessive, request.largest)
        : await firstBytes(body);
      return { status: statusCode, headers, body: collected };
    } catch (thrown) {
      if (isMigrateError(thrown)) throw thrown;
      const problem = connectionProblem(thrown, settings, limit, { proxied, answered });
      // The error's cause must not contain what the service has echoed.
      const cause = withoutData(thrown, settings.secrets);
      throw new MigrateError("ERR_TARGET_UNREACHABLE", { target: settings.target, problem }, { cause });
    } finally {
      clearTimeout(timer);
    }
  };

  const checked = (answer: HttpResponse, request: HttpRequest): HttpResponse => {
    if (!isSuccess(answer.status)) throw answerProblem(answer, request, settings);
    return answer;
  };

  return {
    /** Sends a request that changes nothing, again if the service can't answer. */
    async read(request: HttpRequest): Promise<HttpResponse> {
      const id = randomUUID();
      let answer: HttpResponse | undefined;
      const ask = async () => {
        answer = undefined;
        answer = await send(request, id, Math.min(settings.answerTimeout, longestRead));
        return checked(answer, request);
      };
      return await retry(ask, (error) => outcomeOf(error, answer), systemClock, patience.request);
    },
    /** Sends a request once. */
    write: async (request: HttpRequest) => checked(await send(request, randomUUID(), settings.answerTimeout), request),
    close: release,
  };
}

interface SharedDispatcher {
  opened: { readonly dispatcher: Promise<Dispatcher>; readonly proxied: boolean } | undefined;
  users: number;
}

/** The open connections, by all that they depend on. The databases of a service share them. */
const allConnections = new Map<string, SharedDispatcher>();

/** `release`: closes them if nobody else uses them. */
function connectionsFor({ ca, connectTimeout, answerTimeout }: RestSettings) {
  const environment = Object.fromEntries(proxyVariables.map((name) => [name, process.env[name]]));
  const key = JSON.stringify([ca, connectTimeout, answerTimeout, environment]);
  const connections = allConnections.get(key) ?? { opened: undefined, users: 0 };
  allConnections.set(key, connections);
  connections.users++;
  let isReleased = false;
  const release = async (): Promise<void> => {
    if (isReleased) return;
    isReleased = true;
    if (--connections.users > 0) return;
    allConnections.delete(key);
    // No request that is still under way is awaited by anyone.
    await connections.opened?.dispatcher.then((made) => made.destroy());
  };
  return { connections, environment, release };
}

/** The outcome of a request that changes nothing. `answer`: undefined if there was none. */
function outcomeOf(error: unknown, answer: HttpResponse | undefined): CallOutcome {
  if (answer === undefined) return { kind: isRepeatable(error) ? "unanswered" : "refused" };
  if (!isWorthAnotherRead(answer.status)) return { kind: "refused" };
  return { kind: "throttled", pause: Math.min(pauseAskedFor(answer) ?? 0, patience.request.longest) };
}

function isRepeatable(error: unknown): boolean {
  // An unknown host name or an untrusted certificate will be the same a second later.
  const { cause } = error as { cause?: { code?: unknown } };
  const lasting = /NOTFOUND|CERT|SSL|TLS|INVALID|UNABLE_TO|SELF_SIGNED/;
  return isMigrateError(error, "ERR_TARGET_UNREACHABLE") && !lasting.test(String(cause?.code));
}

function failure(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
}

function openConnections(
  settings: RestSettings,
  environment: NodeJS.ProcessEnv,
): NonNullable<SharedDispatcher["opened"]> {
  const proxies = proxiesOf(environment, settings.target);
  return { dispatcher: dispatcherOf(settings, proxies), proxied: proxies !== undefined };
}

async function dispatcherOf(
  { ca, connectTimeout, answerTimeout }: RestSettings,
  proxies: Proxies | undefined,
): Promise<Dispatcher> {
  const tls = { timeout: connectTimeout, ...(ca === undefined ? {} : { ca: [...getCACertificates("default"), ca] }) };
  // Over HTTP/2, a request that the server refuses late would be sent again silently.
  const common = { headersTimeout: answerTimeout, bodyTimeout: answerTimeout, allowH2: false, connect: tls };
  return await makeDispatcher(
    common,
    proxies && { ...proxies, requestTls: tls, proxyTls: { timeout: connectTimeout, allowH2: false } },
  );
}

function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299;
}

/** In bytes. The answer to a query for rows, which are Arrow data, may be as large. */
const largestAnswer = 64 * 1024 * 1024;
const largestText = 32 * 1024 * 1024;
/** A description of ten thousand columns has about a hundred thousand values. */
const jsonLimits = { levels: 256, values: 2_000_000 };
/** In bytes. A message shows far less. */
const largestProblem = 64 * 1024;

type Excessive = (problem: string) => Error;

async function collect(stream: AsyncIterable<Buffer>, excessive: Excessive, largest = largestAnswer): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.length;
    const most = isArrow(chunks[0] ?? chunk) ? largest : largestText;
    if (size > most) throw excessive(`is larger than ${most / 1024 / 1024} MiB`);
    chunks.push(chunk);
  }
  const body = Buffer.concat(chunks);
  const excess = isArrow(body) ? undefined : jsonExcess(body.toString("utf8"), jsonLimits);
  if (excess !== undefined) throw excessive(excess);
  return body;
}

/** Arrow data begins with its name, or with a marker that no text contains. */
function isArrow(body: Buffer): boolean {
  return body[0] === 0xff || body.subarray(0, 6).equals(Buffer.from("ARROW1"));
}

/** The rest of an error's answer is not read. */
async function firstBytes(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= largestProblem) break;
  }
  return Buffer.concat(chunks).subarray(0, largestProblem);
}

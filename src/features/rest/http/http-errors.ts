/** Describes as text what went wrong with a request, and classifies it. Messages contain no secrets. */
import { firstLine, innermost, isMigrateError, MigrateError, textBefore } from "../../../errors/migrate-error.ts";
import type { HttpResponse, HttpRequest } from "./message.ts";
import type { RestSettings } from "../options/options.ts";
import { withoutSecrets } from "../../../secrets/encoded-forms.ts";

const shownOfAnswer = 500;
/** In bytes. More than is shown, because secrets and locations are taken out of it first. */
const readOfAnswer = 64 * 1024;

interface Broken {
  readonly code: string;
  readonly host: string;
  readonly hostname: string;
  /** Whether requests in plain text got no answer so far, so that the service may accept only TLS. */
  readonly mayWantTls: boolean;
  /** How long the request waited for an answer, as text. */
  readonly waited: string;
  readonly connectWaited: string;
}

/** Known connection failures by the code and the name of the error, as `CODE NAME`. The first that matches is described. */
const connectionProblems: readonly (readonly [RegExp, (broken: Broken) => string])[] = [
  [/^ECONNREFUSED /, ({ host }) => `nothing listens at ${host}; check endpoint`],
  [/^(ENOTFOUND|EAI_AGAIN) /, ({ hostname }) => `there is no host named ${hostname}; check endpoint`],
  [
    /^UND_ERR_CONNECT_TIMEOUT /,
    ({ host, connectWaited }) => `${host} did not take the connection within ${connectWaited}`,
  ],
  [/TIMEOUT.* | TimeoutError$/, ({ host, waited }) => `${host} gave no whole answer within ${waited}`],
  [/^CERT_HAS_EXPIRED /, ({ host }) => `the certificate of ${host} has expired`],
  [/ALTNAME.* /, ({ host }) => `the certificate of ${host} is for another name; check endpoint`],
  [
    /(CERT|SELF_SIGNED|UNABLE_TO).* /,
    ({ host, code }) =>
      `the certificate of ${host} is not trusted (${code}); if it is your own, name its authority in "ca"`,
  ],
  [/(SSL|WRONG_VERSION|EPROTO).* /, ({ host }) => `${host} does not speak TLS; does the endpoint begin with http://?`],
  [/OVERFLOW.* /, ({ host }) => `the headers of ${host}'s answer are too large`],
  [/^HPE_| HTTPParserError$/, ({ host }) => `${host} does not answer in HTTP`],
  [
    /^(UND_ERR_SOCKET|ECONNRESET|EPIPE) /,
    ({ host, mayWantTls }) =>
      `${host} cut the connection before its answer was complete${mayWantTls ? "; does it take https:// only?" : ""}`,
  ],
];

/** The problem of a request that got no answer, or an incomplete one. */
export function connectionProblem(
  thrown: unknown,
  settings: RestSettings,
  limit: number,
  { proxied, answered } = { proxied: false, answered: false },
): string {
  const { host, hostname, protocol } = new URL(settings.base);
  const { code = "", name = "" } = innermost(thrown) as { code?: string; name?: string };
  const seconds = (milliseconds: number) => `${milliseconds / 1000} s`;
  const broken: Broken = {
    code: String(code),
    host,
    hostname,
    mayWantTls: protocol === "http:" && !answered,
    waited: seconds(limit),
    connectWaited: seconds(settings.connectTimeout),
  };
  const known = connectionProblems.find(([pattern]) => pattern.test(`${code} ${name}`))?.[1](broken);
  const through = proxied ? " (asked through the proxy that the environment names)" : "";
  return withoutSecrets(`${known ?? `${host}: ${firstLine(innermost(thrown))}`}${through}`, settings.secrets);
}

/** The error for an answer that is not a success. */
export function answerProblem(answer: HttpResponse, request: HttpRequest, settings: RestSettings): MigrateError {
  const { status } = answer;
  const { target } = settings;
  const problem = describeAnswer(answer, settings);
  const about = { target, request: nameOf(request), status, problem };
  if (status === 401 || status === 403) return new MigrateError("ERR_CREDENTIALS", about);
  // A gateway that got no answer does not know whether the request will take effect.
  if (status === 502 || status === 504)
    return new MigrateError("ERR_TARGET_UNREACHABLE", {
      target,
      problem: `the gateway before it answered ${status}: ${problem}`,
    });
  return new MigrateError("ERR_ANSWER", { ...about, conflict: isConflict(answer), pause: pauseAskedFor(answer) });
}

/** The error for an answer of success that no known service sends. `hint`: what may be wrong with the settings. */
export function strangeAnswer(
  answer: HttpResponse,
  request: HttpRequest,
  settings: RestSettings,
  wanted: string,
  hint?: string,
): MigrateError {
  const encoding = answer.headers["content-encoding"];
  const shown =
    typeof encoding === "string" && encoding !== "identity"
      ? "it is compressed, which was not asked for"
      : describeAnswer(answer, settings);
  return new MigrateError("ERR_ANSWER", {
    target: settings.target,
    request: nameOf(request),
    status: answer.status,
    problem: `that is no ${wanted}: ${shown}${hint === undefined ? "" : `; ${hint}`}`,
  });
}

/** The error for an answer with which nothing is done, because it `problem`: "is larger than 32 MiB". */
export function excessiveAnswer(
  request: HttpRequest,
  { target }: RestSettings,
  status: number,
  problem: string,
): MigrateError {
  return new MigrateError("ERR_ANSWER", { target, request: nameOf(request), status, problem: `its answer ${problem}` });
}

function nameOf({ endpoint }: HttpRequest): string {
  return endpoint.replace(/\?.*/, "");
}

function describeAnswer({ status, headers, body }: HttpResponse, { secrets }: RestSettings): string {
  const { location } = headers;
  if (status >= 300 && status < 400) {
    const to = typeof location === "string" ? ` to ${withoutSecrets(location.replace(/[?#].*/, ""), secrets)}` : "";
    return `it redirects${to}; put the address that it really has into endpoint`;
  }
  const text = body.toString("utf8", 0, readOfAnswer);
  // Secrets are removed twice, both times after the message was taken out of its JSON, which undoes the escapes.
  const line = withoutSecrets(withoutSecrets(sentenceIn(text) ?? text, secrets), secrets)
    // oxlint-disable-next-line no-control-regex -- they must not reach a terminal
    .replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, " ");
  // The engine behind the service may add locations in its source code.
  const plain = textBefore(line, /\b(?:location: Location|Caused by: |backtrace: )/)
    .replace(/, \/[^,]*\.rs:\d+(:\d+)?/g, "")
    .trim();
  return plain === "" ? "no message" : plain.slice(0, shownOfAnswer);
}

/** The message of a JSON error body, under any of the names that services give to it. */
function sentenceIn(text: string): string | undefined {
  try {
    const value = JSON.parse(text) as Record<string, unknown> | null;
    const found = [value?.["error"], value?.["message"], value?.["detail"]].find((one) => typeof one === "string");
    return found as string | undefined;
  } catch {
    return undefined;
  }
}

function isConflict({ status, body }: HttpResponse): boolean {
  const text = body.toString("utf8");
  if (/already exists/i.test(text) || /"code"\s*:\s*5\b/.test(text)) return false;
  return (
    status === 409 ||
    /retryable\s*commit\s*conflict|commit conflict for version|please retry|preempted by|too many concurrent writers/i.test(
      text,
    )
  );
}

/** How many milliseconds the service asks to wait; at most a minute. */
export function pauseAskedFor({ headers }: Pick<HttpResponse, "headers">): number | undefined {
  const value = headers["retry-after"];
  if (typeof value !== "string") return undefined;
  const milliseconds = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isFinite(milliseconds) ? Math.min(Math.max(milliseconds, 0), 60_000) : undefined;
}

export function isWorthAnotherRead(status: number): boolean {
  return [429, 502, 503, 504].includes(status);
}

/** The service's problem and status, without the name of the service, which the reader knows. */
export function explain(error: unknown): string {
  if (isMigrateError(error, "ERR_ANSWER")) return `${error.details.problem} (${error.details.status})`;
  return firstLine(error);
}

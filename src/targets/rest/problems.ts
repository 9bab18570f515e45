/** What went wrong with a request, in words, and what it means. No secret gets into a message. */
import { firstLine, isMigrateError, MigrateError } from "../../errors.ts";
import type { Verdict } from "../target.ts";
import type { Answer, Request } from "./http.ts";
import type { Settings } from "./options.ts";

const shownOfAnswer = 500;

/** A request that got no answer, or not the whole of one. */
export function connectionProblem(
  thrown: unknown,
  { settings, limit }: { readonly settings: Settings; readonly limit: number },
): string {
  const { host, hostname } = new URL(settings.base);
  const { code = "", name = "" } = innermost(thrown) as { code?: string; name?: string };
  const seconds = (milliseconds: number) => `${milliseconds / 1000} s`;
  if (code === "ECONNREFUSED") return `nothing listens at ${host}; check endpoint`;
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return `there is no host named ${hostname}; check endpoint`;
  if (code === "UND_ERR_CONNECT_TIMEOUT")
    return `${host} did not take the connection within ${seconds(settings.connectTimeout)}`;
  if (name === "TimeoutError" || /TIMEOUT/.test(code)) return `${host} gave no whole answer within ${seconds(limit)}`;
  if (/CERT|SELF_SIGNED|UNABLE_TO|ALTNAME/.test(code))
    return `the certificate of ${host} is not trusted (${code}); if it is your own, name its authority in "ca"`;
  if (/SSL|WRONG_VERSION|EPROTO/.test(code)) return `${host} does not speak TLS; does the endpoint begin with http://?`;
  if (code === "UND_ERR_SOCKET" || code === "ECONNRESET" || code === "EPIPE")
    return `${host} cut the connection before its answer was complete`;
  return withoutSecrets(`${host}: ${firstLine(innermost(thrown))}`, settings);
}

function innermost(thrown: unknown): unknown {
  let at = thrown;
  while (at instanceof Error && at.cause instanceof Error) at = at.cause;
  return at instanceof AggregateError ? at.errors[0] : at;
}

/** An answer that is no success. */
export function answerProblem(answer: Answer, { endpoint }: Request, settings: Settings): MigrateError {
  const { status } = answer;
  const { target } = settings;
  const problem = problemOf(answer, settings);
  if (status === 401 || status === 403) return new MigrateError("ERR_CREDENTIALS", { target, status, problem });
  // A gateway that got no answer does not know whether there will be an effect.
  if (status === 502 || status === 504)
    return new MigrateError("ERR_TARGET_UNREACHABLE", {
      target,
      problem: `the gateway before it answered ${status}: ${problem}`,
    });
  const details = { target, request: endpoint.replace(/\?.*/, ""), status, problem };
  return new MigrateError("ERR_ANSWER", { ...details, conflict: isConflict(answer), pause: pauseAskedFor(answer) });
}

/** An answer of success that is not what any known service sends. */
export function strangeAnswer(answer: Answer, { endpoint }: Request, settings: Settings, wanted: string): MigrateError {
  const problem = `that is no ${wanted}: ${problemOf(answer, settings)}; is endpoint the address of a table service?`;
  return new MigrateError("ERR_ANSWER", {
    target: settings.target,
    request: endpoint.replace(/\?.*/, ""),
    status: answer.status,
    problem,
  });
}

function problemOf({ status, headers, body }: Answer, settings: Settings): string {
  const { location } = headers;
  if (status >= 300 && status < 400)
    return `it redirects${typeof location === "string" ? ` to ${withoutSecrets(location.replace(/[?#].*/, ""), settings)}` : ""}; put the address that it really has into endpoint`;
  const text = withoutSecrets(body.toString("utf8"), settings);
  // oxlint-disable-next-line no-control-regex -- they must not get to a terminal
  const plain = (sentenceIn(text) ?? text).replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, " ").trim();
  // The engine behind may add places in its source.
  const short = plain
    .replace(/,?\s*\b(location: Location|Caused by: |backtrace: ).*$/, "")
    .replace(/, \/[^,]*\.rs:\d+(:\d+)?/g, "");
  return short === "" ? "without a word" : short.slice(0, shownOfAnswer);
}

/** The sentence of a JSON error body, under the names that services give to it. */
function sentenceIn(text: string): string | undefined {
  try {
    const value = JSON.parse(text) as Record<string, unknown> | null;
    const found = [value?.["error"], value?.["message"], value?.["detail"]].find((one) => typeof one === "string");
    return found as string | undefined;
  } catch {
    return undefined;
  }
}

/** Whatever a service echoes, and however it writes it, a secret is not repeated. */
export function withoutSecrets(text: string, { secrets }: Pick<Settings, "secrets">): string {
  return secrets
    .flatMap((secret) => [
      secret,
      encodeURIComponent(secret),
      JSON.stringify(secret).slice(1, -1),
      Buffer.from(secret).toString("base64").replace(/=+$/, ""),
    ])
    .reduce((shown, secret) => shown.replaceAll(secret, "***"), text);
}

function isConflict({ status, body }: Answer): boolean {
  const text = body.toString("utf8");
  if (status === 429) return true;
  if (/already exists/i.test(text) || /"code"\s*:\s*5\b/.test(text)) return false;
  return status === 409 || /retryable\s*commit\s*conflict|please retry|preempted by/i.test(text);
}

/** Milliseconds for which the service asks to be left alone. */
export function pauseAskedFor({ headers }: Pick<Answer, "headers">): number | undefined {
  const value = headers["retry-after"];
  if (typeof value !== "string") return undefined;
  const milliseconds = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isFinite(milliseconds) ? Math.min(Math.max(milliseconds, 0), 60_000) : undefined;
}

export function isWorthAnotherRead(status: number): boolean {
  return [429, 502, 503, 504].includes(status);
}

export function verdictOf(error: unknown): Verdict {
  if (isMigrateError(error, "ERR_CREDENTIALS")) return { kind: "refused" };
  if (!isMigrateError(error, "ERR_ANSWER")) return { kind: "unanswered" };
  const { status, conflict, pause } = error.details;
  if (conflict === true) return { kind: "conflict", pause };
  // 408: the service gave up on a request that it may have begun.
  return status < 500 && status !== 408
    ? { kind: status < 300 ? "unanswered" : "refused" }
    : { kind: "unanswered", pause };
}

/** What a service said, without what everybody knows: which one it is. */
export function explain(error: unknown): string {
  if (isMigrateError(error, "ERR_ANSWER")) return `${error.details.problem} (${error.details.status})`;
  return firstLine(error);
}

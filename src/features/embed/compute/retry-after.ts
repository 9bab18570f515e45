/** Which errors of code of the project may pass, and after how long. */

/** A call took too long. */
export class Late extends Error {
  constructor(seconds: number) {
    super(`it gave no answer within ${seconds} s (callSeconds)`);
  }
}

/** What HTTP clients and Node give an error. */
interface ErrorFields {
  readonly name?: unknown;
  readonly status?: unknown;
  readonly statusCode?: unknown;
  readonly code?: unknown;
  /** Seconds, or a date. */
  readonly retryAfter?: unknown;
  readonly headers?: unknown;
  /** `fetch` puts the error of the network here. */
  readonly cause?: unknown;
}

const networkCodes: ReadonlySet<unknown> = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EAI_AGAIN",
  "ECONNABORTED",
  "EHOSTUNREACH",
  "ENETDOWN",
  "ENETUNREACH",
  "ENOTFOUND",
  "EPIPE",
  "ETIMEDOUT",
  "UND_ERR_BODY_TIMEOUT",
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_SOCKET",
]);

/** A longer time is asked for by mistake. */
const longest = 3_600_000;

/** How many milliseconds to wait before the same call may succeed; undefined if it would fail again. */
export function pauseBefore(error: unknown): number | undefined {
  if (error instanceof Late) return 0;
  if (typeof error !== "object" || error === null) return undefined;
  const { name, status, statusCode = status, code, retryAfter, headers, cause } = error as ErrorFields;
  if (typeof statusCode === "number" && statusCode !== 429 && statusCode < 500) return undefined;
  const wait = retryAfter ?? header(headers, "retry-after");
  if (wait !== undefined && wait !== null) return Math.min(milliseconds(String(wait)), longest);
  if (typeof statusCode === "number" || networkCodes.has(code) || name === "TimeoutError") return 0;
  return cause === undefined || cause === error ? undefined : pauseBefore(cause);
}

function header(headers: unknown, name: string): unknown {
  if (typeof headers !== "object" || headers === null) return undefined;
  if (headers instanceof Headers) return headers.get(name);
  return Object.entries(headers).find(([one]) => one.toLowerCase() === name)?.[1];
}

function milliseconds(wait: string): number {
  const seconds = Number(wait);
  return Math.max(0, Number.isFinite(seconds) ? seconds * 1_000 : Date.parse(wait) - Date.now()) || 0;
}

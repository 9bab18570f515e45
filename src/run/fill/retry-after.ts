/** Which errors of code of the project may pass, and after how long. */

/** A call took too long. */
export class Late extends Error {
  constructor(seconds: number) {
    super(`it gave no answer within ${seconds} s (callSeconds)`);
  }
}

/** What HTTP clients and Node give an error. */
interface Described {
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
  "ENOTFOUND",
  "EPIPE",
  "ETIMEDOUT",
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
  const { status, statusCode = status, code, retryAfter, headers, cause } = error as Described;
  const wait = retryAfter ?? header(headers, "retry-after");
  if (wait !== undefined && wait !== null) return Math.min(milliseconds(String(wait)), longest);
  if (typeof statusCode === "number") return statusCode === 429 || statusCode >= 500 ? 0 : undefined;
  if (networkCodes.has(code)) return 0;
  return cause === undefined || cause === error ? undefined : pauseBefore(cause);
}

function header(headers: unknown, name: string): unknown {
  if (typeof headers !== "object" || headers === null) return undefined;
  return headers instanceof Headers ? headers.get(name) : (headers as Readonly<Record<string, unknown>>)[name];
}

function milliseconds(wait: string): number {
  const seconds = Number(wait);
  return Math.max(0, Number.isFinite(seconds) ? seconds * 1_000 : Date.parse(wait) - Date.now()) || 0;
}

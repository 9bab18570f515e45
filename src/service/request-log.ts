/** The log: one line per request, whatever answers it. */
import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { withoutSecrets } from "../secrets/encoded-forms.ts";

/** `isFailure` is whether an operator must see the line: the service failed at something. */
export type Log = (line: string, isFailure: boolean) => void;

export interface RequestLine {
  readonly method: string;
  /** Without the query, whose values may be secrets. */
  readonly path: string;
  readonly status: number;
  /** Milliseconds; undefined if it is unknown when the request began. */
  readonly took: number | undefined;
  readonly id: string;
  /** What the line reports besides. */
  readonly reason?: string | undefined;
}

/** Gives the function that writes the line of a request. */
export function createRequestLog(log: Log, secrets: readonly string[]): (line: RequestLine) => void {
  return ({ method, path, status, took, id, reason = "" }) => {
    const time = took === undefined ? "-" : `${Math.round(took)}ms`;
    const parts = [new Date().toISOString(), method, path, status, time, id, reason];
    log(withoutSecrets(parts.join(" ").trimEnd(), secrets), status >= 500);
  };
}

/** The caller's id if it is safe to log; otherwise a new one. */
export function requestIdOf({ headers }: Pick<IncomingMessage, "headers">): string {
  const sent = headers["x-request-id"];
  return typeof sent === "string" && /^[\w.:-]{1,100}$/.test(sent) ? sent : randomUUID();
}

/** Without the query. */
export function pathOf({ url }: Pick<IncomingMessage, "url">): string {
  return url?.split("?", 1)[0] ?? "/";
}

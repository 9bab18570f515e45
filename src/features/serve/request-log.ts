/** The log: one line per request, whatever answers it, and a few lines about the service. */
import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { withoutSecrets } from "../../secrets/encoded-forms.ts";

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

export function createServiceLog(log: Log, secrets: readonly string[]) {
  const write = (line: string, isFailure: boolean) =>
    log(withoutSecrets(`${new Date().toISOString()} ${line}`, secrets), isFailure);
  return {
    /** Writes the line of a request. */
    request({ method, path, status, took, id, reason = "" }: RequestLine) {
      const time = took === undefined ? "-" : `${Math.round(took)}ms`;
      write([method, path, status, time, id, reason].join(" ").trimEnd(), status >= 500);
    },
    /** Writes a line that no request has, which an operator must see. */
    note: (line: string) => write(line, true),
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

/** Hashes of migrations: of their steps, and of the text of their files. */
import { withoutMark } from "../checks/byte-order-mark.ts";
import { hash } from "node:crypto";

/** SHA-256, in hex. */
export function sha256(text: string): string {
  return hash("sha256", text);
}

/**
 * JSON with sorted keys and without undefined members: equal data gives equal text. `minusZero`: how -0 is written, which
 * equals 0 in checksums.
 */
export function canonicalJson(value: unknown, minusZero: "0" | "-0" = "0"): string {
  if (typeof value !== "object" || value === null)
    return Object.is(value, -0) ? minusZero : (JSON.stringify(value) ?? "null");
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item, minusZero)).join(",")}]`;
  const record = value as Readonly<Record<string, unknown>>;
  const members = Object.keys(record)
    .filter((key) => record[key] !== undefined)
    .toSorted()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(record[key], minusZero)}`);
  return `{${members.join(",")}}`;
}

/** The checksum of a migration's steps. Formatting, comments and the language of its file do not affect it. */
export function checksumOf(steps: readonly unknown[]): string {
  return sha256(canonicalJson(steps));
}

/** A short hash of one step, enough to find the step that was changed. */
export function stepHash(step: unknown): string {
  return shortHash(sha256(canonicalJson(step)));
}

/**
 * The hash of what must stay the same of a step that was interrupted between two of its commits. How values are computed
 * may change: the marks of rows show which of them are outdated then.
 */
export function begunHash(step: object): string {
  if (!("kind" in step) || step.kind !== "backfillColumn") return stepHash(step);
  const { kind, table, path } = step as Readonly<Record<string, unknown>>;
  return stepHash({ kind, table, path });
}

/** The hash of a file's text. CRLF line ends and a byte order mark do not affect it. */
export function textHash(text: string): string {
  // Asked first, because most of thousands of files have neither.
  return sha256(withoutMark(text).replaceAll("\r\n", "\n"));
}

/** Whether a hash is the stored one. Only its beginning may be stored, as the names of markers have little room. */
export function matchesHash(hash: string, stored: string | undefined): boolean {
  return stored ? hash.startsWith(stored) : false;
}

/** The first 64 bits of a hash, enough to detect a change. */
export function shortHash(hash: string): string {
  return hash.slice(0, 16);
}

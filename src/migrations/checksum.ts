/** Hashes of migrations: of what they do, and of how their file reads. */
import { createHash } from "node:crypto";

/** SHA-256, in hex. */
export function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** JSON with sorted keys and without absent ones: equal data gives equal text. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`);
  return `{${members.join(",")}}`;
}

/** Of what a migration does; formatting, comments and the language of its file do not count. */
export function checksumOf(steps: readonly unknown[]): string {
  return sha256(canonicalJson(steps));
}

/** Of one step, short: enough to name the step that was changed. */
export function stepHash(step: unknown): string {
  return shortHash(sha256(canonicalJson(step)));
}

/** Of a file's text; a checkout with other line ends or a byte order mark is the same text. */
export function textHash(text: string): string {
  return sha256(text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n"));
}

/** Whether a hash is the one that was stored, which may be its beginning: names of markers have little room. */
export function matchesHash(hash: string, stored: string): boolean {
  return stored !== "" && hash.startsWith(stored);
}

/** The beginning of a hash: 64 bits, enough to see that something was changed. */
export function shortHash(hash: string): string {
  return hash.slice(0, 16);
}

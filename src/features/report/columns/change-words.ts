/** A change of a column in words. */
import type { ChangeText } from "./column-changes.ts";

export function changeWords({ change, before, after }: ChangeText): string {
  switch (change) {
    case "created":
      return `created as ${after}${before === undefined ? "" : `, with the old values of ${before}`}`;
    case "renamed":
      return `renamed from ${before} to ${after}`;
    case "moved":
      return `table renamed from ${before} to ${after}`;
    case "retyped":
    case "nullability":
      return `changed from ${before} to ${after}`;
    case "filled":
      return `filled with ${after}`;
    case "computed":
      return `computed ${after}`;
    case "dropped":
      return `dropped, as ${before}`;
    case "indexed":
      return replaced("index", before, after);
    case "metadata":
      return replaced("metadata", before, after);
  }
}

function replaced(what: string, before: string | undefined, after: string | undefined): string {
  if (before === undefined) return `${what} added: ${after}`;
  return after === undefined ? `${what} removed: ${before}` : `${what} changed from ${before} to ${after}`;
}

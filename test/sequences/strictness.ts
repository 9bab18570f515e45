/** What the engine takes and we refuse on purpose. */
import type { ErrorCode, MigrateError } from "../../src/errors/migrate-error.ts";

const refusals: readonly { readonly code: ErrorCode; readonly says?: RegExp; readonly why: string }[] = [
  { code: "ERR_NO_EFFECT", why: "a step that changes nothing is a mistake" },
  { code: "ERR_COLUMN_DUPLICATE", says: /differ only in case/, why: "SQL finds columns without regard to case" },
  { code: "ERR_COLUMN_DUPLICATE", says: /item would have two columns/, why: "in vectors it fails once there are rows" },
  {
    code: "ERR_COLUMN_MISSING",
    says: /no column item .* it has none inside/,
    why: "it can't change the item of a vector",
  },
  { code: "ERR_ROWS", says: /(same .* as another|that could tell it)/, why: "insertRows could not be run once more" },
  { code: "ERR_ALTERATION_CONFLICT", says: /which the same update sets/, why: "execute could not be run once more" },
  { code: "ERR_ALTERATION_CONFLICT", says: /is altered twice in one call/, why: "it makes one of two renames" },
  { code: "ERR_ALTERATION_CONFLICT", says: /drops a list together with its item/, why: "nobody asked for the list" },
  { code: "ERR_ALTERATION_CONFLICT", says: /has no values for the rows that are there/, why: "it makes it nullable" },
  { code: "ERR_ALTERATION_CONFLICT", says: /engine's SQL can't name its field/, why: "it makes another field" },
  {
    code: "ERR_ALTERATION_CONFLICT",
    says: /can't update some rows of a table with vectors of structs/,
    why: "it can where the predicate is the same for every row, such as a null test of a column that has none",
  },
  { code: "ERR_STEP_IMPOSSIBLE", says: /one has that name for a moment/, why: "a retype would need the name" },
  { code: "ERR_ALTERATION_CONFLICT", says: /of type null/, why: "it makes text of it, and fails in structs of rows" },
  {
    code: "ERR_ALTERATION_CONFLICT",
    says: /stays nullable, as rows that are added have no value in it before a refresh/,
    why: "every append would fail afterwards",
  },
  { code: "ERR_INDEX", says: /which is inside a list|begins with a digit/, why: "it fails once there are rows" },
  {
    code: "ERR_ALTERATION_CONFLICT",
    says: /recreates whole columns/,
    why: "the new column would not be where the old was",
  },
];

/** The reason for which we are stricter than the engine; undefined where we are not meant to be. */
export function strictness({ code, message }: MigrateError): string | undefined {
  return refusals.find((one) => one.code === code && (one.says?.test(message) ?? true))?.why;
}

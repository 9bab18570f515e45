/** Whether a table is the one that was seen earlier, or another of the same name. Pure. */

/** A version of a table, as it was seen. */
export interface SeenVersion {
  readonly version: number;
  /** When it was made, in milliseconds since 1970; undefined where the target does not tell. */
  readonly at: number | undefined;
}

/** `unknown`: the version that was seen is no longer listed, or its time was never known. */
export type Identity = "same" | "another" | "unknown";

/**
 * Dropping a table drops its versions, so a table that still lists the version that was seen, with the same time, is the
 * same table. `at`: the time of that version as it is listed now; undefined where it is not.
 */
export function identityOf(
  seen: SeenVersion,
  now: { readonly newest: number; readonly at: number | undefined },
): Identity {
  if (now.newest < seen.version) return "another";
  if (seen.at === undefined || now.at === undefined) return "unknown";
  return now.at === seen.at ? "same" : "another";
}

/** Whether a table is the one that was described earlier, or another of the same name. Pure. */

/** A version of a table, as a snapshot recorded it. */
export interface SeenVersion {
  readonly version: number;
  /** When it was created, in milliseconds since 1970; undefined if the target does not report it. */
  readonly at: number | undefined;
}

/** `unknown`: the recorded version is no longer listed, or one of the two times is unknown. */
export type Identity = "same" | "another" | "unknown";

/**
 * Compares a recorded version with the current table. Dropping a table drops its versions, so a table that still lists
 * the recorded version with the same time is the same table. `at`: the time that is now
 * listed for that version; undefined if it is not listed.
 */
export function identityOf(
  seen: SeenVersion,
  now: { readonly newest: number; readonly at: number | undefined },
): Identity {
  if (now.newest < seen.version) return "another";
  if (seen.at === undefined || now.at === undefined) return "unknown";
  return now.at === seen.at ? "same" : "another";
}

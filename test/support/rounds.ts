/** Whether everything is tried that chance or a list could decide: every night, and not for each commit. */
export const isLong = process.env["MIGRATE_LONG"] === "1";

/** How often a test tries what chance decides: a few times in `npm test`, as often as it should with `MIGRATE_LONG=1 npm test`. */
export function rounds(few: number, all: number): number {
  return isLong ? all : few;
}

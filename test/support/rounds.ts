/** How often a test tries what chance decides: a few times in `npm test`, as often as it should with `MIGRATE_LONG=1 npm test`. */
export function rounds(few: number, all: number): number {
  return process.env["MIGRATE_LONG"] === "1" ? all : few;
}

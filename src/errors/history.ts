/** Errors about history: changed migrations and ledgers, wrong order, and drift. */
import { absentFrom, refused, usage, type MigrationsPlace } from "./entry.ts";

export const historyErrors = {
  ERR_MIGRATION_CHANGED: refused(
    (d: { file: string; change: string; begun?: boolean | undefined; isSameText?: boolean | undefined }) => {
      const when = d.begun === true ? "it had begun" : "it was applied";
      if (d.isSameText === true)
        return `${d.file} is as it was when ${when}, but it computes other steps now: ${d.change}; what it reads or imports has changed: write out the value that it had then`;
      return d.begun === true
        ? `${d.file} was changed after ${when}: ${d.change}; undo that change; the steps after it may be changed`
        : `${d.file} was changed after ${when}: ${d.change}; restore it and put the change in a new migration`;
    },
  ),
  ERR_MIGRATION_MISSING: refused(
    (d: { version: string; name: string; begun?: boolean | undefined } & MigrationsPlace) =>
      `${d.version}_${d.name} ${d.begun === true ? "was begun but not finished" : "was applied"}, but ${absence(d)}`,
  ),
  ERR_NUMBER_USED: refused(
    (d: { file: string; version: number; other: string; is: "is applied" | "has begun" }) =>
      `number ${d.version} was used by ${d.other}, which ${d.is} here and has no file; restore that file and give ${d.file} the next number, or see migrate resolve --help`,
  ),
  ERR_REPLACES: refused(
    (d: { file: string; problem: string }) => `${d.file} replaces migrations that ran before: ${d.problem}`,
  ),
  ERR_MOVED: refused((d: { path: string; problem: string }) => `${d.path} ${d.problem}`),
  ERR_REBASE: refused(
    (d: { migration: string; problem: string }) =>
      `${d.problem}; it can't follow ${d.migration} as it is: change it, then run migrate rebase again`,
  ),
  ERR_ORDER_MATTERS: refused(
    (d: { problem: string }) =>
      `the order matters: ${d.problem}; first roll yours back wherever it has run, with the files as they were before the merge (migrate down); then run migrate rebase --accept order`,
  ),
  ERR_OUT_OF_ORDER: refused(
    (d: { file: string; last: string }) =>
      `${d.file} is pending, but ${d.last} with a higher number has already run; renumber it, or pass --allow-out-of-order`,
  ),
  ERR_BEGUN: refused((d: { version: string; file?: string | undefined; group?: string } & MigrationsPlace) =>
    d.file === undefined
      ? `${d.version} was begun but not finished, and ${absence(d)}`
      : `${d.group ?? d.file} was begun but not finished, so it must be finished first; leave out --to, or go up to ${d.version}`,
  ),
  ERR_GROUP_CHANGED: refused(
    (d: { from: string; until: string }) =>
      `the migrations ${d.from} to ${d.until} began as one group and were not finished, and the files that are here can't run as one; deploy the release that began them`,
  ),
  ERR_DRIFT: refused(
    (d: { table: string; differences: readonly string[]; hint: string }) =>
      `table ${d.table} is not as the ledger records: ${d.differences.join("; ")}; ${d.hint}`,
  ),
  ERR_VERSION_UNKNOWN: usage(
    (d: { version: string; known: string }) => `--to ${d.version}: there is no such migration; ${d.known}`,
  ),
  ERR_LEDGER_UNREADABLE: refused(
    (d: { ledger: string; problem: string }) => `the ledger ${d.ledger} can't be read: ${d.problem}`,
  ),

  ERR_LEDGER_LOST: refused((d: { problem: string }) => `nothing was rolled back: ${d.problem}`),
  ERR_LEDGER_CHANGED: refused(
    (d: { problem: string }) =>
      `the ledger was changed by something else than this tool: ${d.problem}; see migrate verify --ledger, and repair it with migrate repair`,
  ),
} as const;

/** That a migration is missing where migrations are read from, and the way out. */
function absence(place: MigrationsPlace): string {
  const way =
    place.bundle === undefined
      ? `${absentFrom(place)}; restore it`
      : `${place.bundle} does not contain it; make a new bundle with migrate build where its file is`;
  return `${way}, or deploy a release that has it; if the file is lost, see migrate resolve --help`;
}

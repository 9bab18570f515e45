/** Errors about consent, forbidden steps, rollbacks and rehearsals. */
import { states } from "./states.ts";
import { at, byteCount, count, failed, refused, type StepPlace } from "./entry.ts";

export const rollbackErrors = {
  ERR_CONSENT: refused(
    (
      d: StepPlace & {
        consent: string;
        loss: string;
        others?: { count: number; consent: string } | undefined;
        /** The command that gets the consent; undefined for the command that was refused. */
        command?: "migrate up" | "migrate push" | undefined;
      },
    ) =>
      `${at(d)} needs consent: ${d.loss}${d.consent === "lossy" ? "" : ", and nothing brings that back"}; ${consenting(d.command, d.consent)}${d.command === "migrate up" ? `, or write export const accepts = ["${d.consent}"] into the file` : ""}` +
      (d.others === undefined
        ? ""
        : `; ${count(d.others.count, "more step")} need${d.others.count === 1 ? "s" : ""} consent${d.consent === "lossy" && d.others.consent !== "lossy" ? `, and --accept ${d.others.consent} covers all` : ""}${d.command === "migrate up" ? ": see migrate plan" : ""}`),
  ),
  ERR_FORBIDDEN: refused(
    (d: StepPlace & { target: string; class: string; problem: string }) =>
      `${at(d)} is forbidden on target ${d.target}, whose configuration allows no step of rollback class ${d.class}: ${d.problem}; use other steps, or take ${d.class} out of forbid in its guards`,
  ),
  ERR_REWRITE: refused(
    (d: StepPlace & { target: string; bytes?: number | undefined; limit: number }) =>
      `${at(d)} is forbidden on target ${d.target}, whose configuration lets a migration rewrite ${byteCount(d.limit)}: ` +
      (d.bytes === undefined
        ? "how much it rewrites is unknown"
        : `up to this step it rewrites about ${byteCount(d.bytes)}`) +
      "; raise maxRewriteBytes in its guards to allow it",
  ),
  ERR_IRREVERSIBLE: refused(
    (d: StepPlace & { problem: string; hint?: string | undefined }) =>
      `${at(d)} can't be rolled back: ${d.problem}; ${d.hint ?? "write a new migration instead, or restore a backup"}`,
  ),
  ERR_ROLLBACK_CHANGED: refused(
    (d: { file: string }) =>
      `${d.file} is being rolled back, and by other actions than this release or this file would; put the file back, or run migrate down of the release that began it`,
  ),
  ERR_ROLLBACK_OTHER: refused(
    (d: { agreed: string; now: string }) =>
      `${d.agreed === "" ? "there was nothing to roll back" : `you agreed to roll back ${d.agreed}`}, and since then another run has changed what migrate down rolls back: now it would be ${d.now === "" ? "nothing" : d.now}; run it again`,
  ),
  ERR_ROLLBACK_BLOCKED: refused(
    (d: { problems: readonly string[]; hint: string }) =>
      `rows block the rollback: ${d.problems.join("; ")}; ${d.hint}`,
  ),
  ERR_ROLLBACK_STOPPED: failed(
    (d: StepPlace & { problems: readonly string[] }) =>
      `${at(d)} is not rolled back: ${d.problems.join("; ")}; run migrate down again: it rolls back the rest, or shows what must be done first`,
  ),
  ERR_WRITES_LOST: failed(
    (d: StepPlace & { table: string; version: number; problems: readonly string[] }) =>
      `${at(d)} was rolled back, and writes that arrived in that moment are lost; version ${d.version} of ${d.table} still holds them, so copy them from there: ${d.problems.join("; ")}`,
  ),
  ERR_WRITES_UNKNOWN: failed(
    (d: StepPlace & { table: string; version: number; problems: readonly string[] }) =>
      `${at(d)} was rolled back, and others wrote to ${d.table} after version ${d.version}, in that moment; whether these writes are lost is unknown: ${d.problems.join("; ")}; check what was written to ${d.table} since then`,
  ),
  ERR_VERSION_UNKEPT: failed(
    (d: StepPlace & { table: string; version: number; problem: string }) =>
      `${at(d)} was not begun: version ${d.version} of ${d.table}, which migrate down would restore, can't be kept: ${d.problem}; ` +
      `remove the cause and run migrate up again, or pass --accept irreversible to continue without it`,
  ),
  ERR_BACK_ORDER: refused(
    (d: { later: string; earlier: string; commands: readonly string[]; again: readonly string[] }) =>
      `${d.later} ran after ${d.earlier}, so it must be rolled back before it; run ${d.commands.join(", then ")}, which applies ${d.again.join(" and ")} again`,
  ),
  ERR_UNSETTLED: refused(
    (d: { version: string }) =>
      `${d.version} may have run further than is recorded; run ${states["in doubt"].on} first, which finds out and resumes it`,
  ),
  ERR_REVERTING: refused(
    (d: { version: string }) =>
      `${d.version} is being rolled back, which is not finished; run ${states["being rolled back"].back} to finish it`,
  ),
  ERR_REHEARSAL: failed(
    (d: { target: string; problems: readonly string[] }) =>
      `the rehearsal found what would go wrong on ${d.target}, where nothing was changed: ${d.problems.join("; ")}`,
  ),
  ERR_REHEARSAL_BEGUN: refused(
    (d: { version: string }) =>
      `${d.version} has begun, so its original tables no longer exist to compare with; run migrate up first, then rehearse the migrations after it`,
  ),
} as const;

function consenting(command: string | undefined, consent: string): string {
  return command === undefined ? `pass --accept ${consent}` : `run ${command} --accept ${consent}`;
}

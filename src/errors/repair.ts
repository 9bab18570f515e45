/** Errors about repairing the ledger, and about resolving one migration in it. */
import { refused, someOf, usage } from "./entry.ts";

export const repairErrors = {
  ERR_REPAIR_NO_PLACE: refused(
    (d: {
      nearest: string;
      differences: readonly string[];
      hint: string;
      /** The tables that are at another point, and where, as text. */
      behind?: readonly string[];
      /** The version of such a table with which the tables match a point, as text. */
      restorable?: string | undefined;
      /** What --to takes to record the nearest point in spite of the differences. */
      anyway?: string | undefined;
      problem?: string | undefined;
      /** Numbers between those of the files that no file has. */
      gaps?: readonly string[];
    }) =>
      `the tables match no point in the history of the migration files; the nearest is ${d.nearest}, where ` +
      `${d.differences.join("; ")}; ` +
      (d.gaps === undefined || d.gaps.length === 0
        ? ""
        : `no file has the number ${someOf(d.gaps)}: if one was lost, put it back first; otherwise `) +
      (d.behind === undefined || d.behind.length === 0
        ? ""
        : `${d.behind.join(" and ")}: if it was restored, restore ${d.restorable === undefined ? "the version that migrate verify names, or all tables to the same time" : `${d.restorable}, if nothing that was written since is needed`}; otherwise `) +
      `${d.hint}, then run migrate repair again` +
      (d.anyway === undefined
        ? ""
        : `; or record that point in spite of the differences, which migrate verify then reports: migrate repair --to ${d.anyway} --yes`) +
      (d.problem === undefined ? "" : `; history ends early: ${d.problem}`),
  ),
  ERR_REPAIR_AMBIGUOUS: refused(
    (d: { places: readonly string[]; choices: readonly string[]; restored?: Restored | undefined }) =>
      `the tables are as they were ${d.places.join(" and ")}` +
      (d.restored === undefined
        ? `, and which of them can't be determined; choose with ${toAnyOf(d.choices)}`
        : `, as far as columns show; ${ifRestored(d.restored, d.choices)}`),
  ),
  ERR_REPAIR_PLACE: refused(
    (d: { choice: string; places: readonly string[] }) =>
      `--to ${d.choice}: the tables are not as they were there; they are as they were ${d.places.join(" and ")}`,
  ),
  ERR_REPAIR_BLIND: refused(
    (d: { target: string; problem: string }) =>
      `target ${d.target} can't describe its tables, so its ledger can't be rebuilt from them: ${d.problem}`,
  ),
  ERR_RESOLVE: refused((d: { problem: string }) => `nothing is marked: ${d.problem}`),
  ERR_RESOLVE_UNKNOWN: usage((d: { choice: string; where: string; there?: string | undefined }) =>
    d.there === undefined
      ? `${d.choice}: ${d.where} has no such migration; see migrate status`
      : `${d.choice}: under that number ${d.where} has ${d.there}`,
  ),
} as const;

const toAnyOf = (choices: readonly string[]) => choices.map((choice) => `--to ${choice}`).join(" or ");

export interface Restored {
  /** The tables that are not as the ledger records. */
  readonly tables: readonly string[];
  /** The choices that agree with what the ledger records of all other tables. */
  readonly choices: readonly string[];
  /** The version of such a table with which there is such a choice, as text. */
  readonly version?: string | undefined;
}

/** What to choose depends on what only the user knows: which tables were brought back. */
function ifRestored({ tables, choices: kept, version }: Restored, choices: readonly string[]): string {
  const [was, it] = tables.length === 1 ? ["was", "it"] : ["were", "them"];
  const only = `if only ${tables.join(" and ")} ${was} brought back from a copy`;
  const others = toAnyOf(choices.filter((choice) => !kept.includes(choice)));
  if (kept.length > 0)
    return `${only}, choose with ${toAnyOf(kept)}, which agrees with the ledger about the other tables; otherwise choose with ${others}`;
  const instead =
    version === undefined
      ? `bring back a newer copy of ${it}`
      : `restore ${version}, if nothing that was written since is needed`;
  return (
    `the ledger disagrees about rows of the other tables: ${only}, ${instead}, then run migrate repair again; ` +
    `if all tables, or the ledger alone, were brought back, choose with ${others}`
  );
}

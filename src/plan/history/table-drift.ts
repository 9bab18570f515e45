/** Differences between the live tables and the expected ones, and how to fix them. Pure. */
import { differences, type Table } from "../../schema/table.ts";

export interface TableDifference {
  readonly table: string;
  /** `gone`: the table does not exist; `foreign`: it exists, but should not. */
  readonly kind: "gone" | "foreign" | "changed";
  /** As text. */
  readonly differences: readonly string[];
  /** The version that introduced the difference, if the target keeps versions and reports them. */
  readonly since?: DriftSince | undefined;
}

export interface DriftSince {
  readonly version: number;
  /** Milliseconds since 1970 by the clock of the version's writer. */
  readonly at: number | undefined;
  /** Whether the difference may be older: older versions are gone or were not examined. */
  readonly isOrEarlier: boolean;
  /** Whether it may have disappeared and come back since: not every version was examined. */
  readonly isOrLater: boolean;
}

/** What differs in one table; empty if nothing does. */
export function differencesOf(
  table: string,
  should: Table | undefined,
  found: Table | undefined,
): readonly TableDifference[] {
  const words = differences(should, found);
  const kind = should === undefined ? "foreign" : found === undefined ? "gone" : "changed";
  return words.length === 0 ? [] : [{ table, kind, differences: words }];
}

export function describeDifference({ table, differences }: TableDifference): string {
  return `table ${table}: ${differences.join(", ")}`;
}

export function areAll(kind: TableDifference["kind"], found: readonly TableDifference[]): boolean {
  return found.length > 0 && found.every((one) => one.kind === kind);
}

/** How users can fix differences that no record can fix. */
export function howToFix(found: readonly TableDifference[]): string {
  const namesOf = (kind: TableDifference["kind"]) => found.flatMap((one) => (one.kind === kind ? [one.table] : []));
  const [gone, foreign] = [namesOf("gone"), namesOf("foreign")];
  const dated = found.flatMap((one) => versionBefore(one) ?? []);
  const byHand = found.filter((one) => one.kind === "changed" && versionBefore(one) === undefined).length;
  const [steps, others] =
    foreign.length === 1
      ? ["step that creates", "it create a table of another name"]
      : ["steps that create", "them create tables of other names"];
  return [
    ...(gone.length === 0 ? [] : [`bring ${tables(gone)} back from a backup`]),
    ...(foreign.length === 0
      ? []
      : [
          // Not "drop them": the ledger does not record that a migration created them, so they may hold others' rows.
          `remove the ${steps} ${tables(foreign)}, or let ${others}`,
        ]),
    ...(dated.length === 0
      ? []
      : [`restore ${dated.join(" and ")}, if nothing that was written since is needed, or change it back by hand`]),
    ...(byHand === 0 ? [] : [`fix ${byHand === found.length ? "that" : "the rest"} by hand`]),
  ].join("; ");
}

/** The newest version of a changed table that is as it should be, as text. Undefined if it is not known. */
function versionBefore({ table, kind, since }: TableDifference): string | undefined {
  if (kind !== "changed" || since === undefined || since.isOrEarlier || since.isOrLater) return undefined;
  return `version ${since.version - 1} of ${table}`;
}

function tables(names: readonly string[]): string {
  return `${names.length === 1 ? "table" : "tables"} ${names.join(" and ")}`;
}

/** A difference as JSON. */
export function differenceDocument({ since, ...difference }: TableDifference) {
  if (since === undefined) return difference;
  const { version, at, isOrEarlier, isOrLater } = since;
  const time = at === undefined ? undefined : new Date(at).toISOString();
  return { ...difference, since: { version, time, orEarlier: isOrEarlier, orLater: isOrLater } };
}

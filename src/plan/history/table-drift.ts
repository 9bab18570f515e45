/** Tables that are not as they should be, and what people can do about that. Pure. */
import { differences, type Table } from "../../schema/table.ts";

export interface TableDifference {
  readonly table: string;
  /** `gone`: it is not there; `foreign`: it is there and should not be. */
  readonly kind: "gone" | "foreign" | "changed";
  /** In words. */
  readonly differences: readonly string[];
  /** The version in which that came, where the target keeps versions and tells. */
  readonly since?: DriftSince | undefined;
}

export interface DriftSince {
  readonly version: number;
  /** Milliseconds since 1970 by the clock of who made the version. */
  readonly at: number | undefined;
  /** Older versions are gone or were not looked at: it may have been there before. */
  readonly isOrEarlier: boolean;
  /** Whether it may have gone and come again since: not every version was looked at. */
  readonly isOrLater: boolean;
}

/** What differs in one table; empty when nothing does. */
export function differencesOf(
  table: string,
  should: Table | undefined,
  found: Table | undefined,
): readonly TableDifference[] {
  const words = differences(should, found);
  const kind = should === undefined ? "foreign" : found === undefined ? "gone" : "changed";
  return words.length === 0 ? [] : [{ table, kind, differences: words }];
}

export function areAll(kind: TableDifference["kind"], found: readonly TableDifference[]): boolean {
  return found.length > 0 && found.every((one) => one.kind === kind);
}

/** What people can do about differences that no record can mend. */
export function putRight(found: readonly TableDifference[]): string {
  const namesOf = (kind: TableDifference["kind"]) => found.flatMap((one) => (one.kind === kind ? [one.table] : []));
  const [gone, foreign, changed] = [namesOf("gone"), namesOf("foreign"), namesOf("changed")];
  const [them, creates] = foreign.length === 1 ? ["it", "step that creates"] : ["them", "steps that create"];
  return [
    ...(gone.length === 0 ? [] : [`bring ${tables(gone)} back from a backup`]),
    ...(foreign.length === 0
      ? []
      : [`drop ${tables(foreign)} if nobody needs ${them}, or remove the ${creates} ${them}`]),
    ...(changed.length === 0 ? [] : [`put ${changed.length === found.length ? "that" : "the rest"} right by hand`]),
  ].join("; ");
}

function tables(names: readonly string[]): string {
  return `${names.length === 1 ? "table" : "tables"} ${names.join(" and ")}`;
}

/** The columns of the table of databases: what each shows, and what it is sorted by. */
import { formatNumber } from "../../../../errors/entry.ts";
import type { FleetDatabase } from "../../report-document.ts";
import { formatMigration, formatVersion } from "../../../../migrations/file-name.ts";
import { code, html, type Child } from "../dom.ts";
import { badge } from "../parts.ts";
import { time, who } from "../words.ts";
import { lastApplied } from "./last-migrations.ts";

export interface TableColumn {
  readonly heading: string;
  readonly cell: (one: FleetDatabase) => Child;
  /** Databases without a key come last in both directions. */
  readonly key: (one: FleetDatabase) => string | number | undefined;
  /** Whether the largest comes first when the heading is first used. */
  readonly isDescending: boolean;
}

export const tableColumns: readonly TableColumn[] = [
  { heading: "Name", cell: ({ name }) => name, key: ({ name }) => name, isDescending: false },
  { heading: "Last migration", cell: lastCell, key: lastApplied, isDescending: false },
  {
    heading: "Pending",
    cell: (one) => ("error" in one ? "" : one.pending === 0 ? "0" : badge("warn", formatNumber(one.pending))),
    key: (one) => ("error" in one ? undefined : one.pending),
    isDescending: true,
  },
  {
    heading: "Problems",
    cell: problemsCell,
    key: (one) => problemsOf(one).length || undefined,
    isDescending: true,
  },
  {
    heading: "Lease",
    cell: (one) => (holderOf(one) === undefined ? "" : html("span", { title: holderOf(one) }, who(holderOf(one)!))),
    key: holderOf,
    isDescending: false,
  },
  {
    heading: "Last run",
    cell: (one) => (lastOf(one) === undefined ? "" : time(lastOf(one)!.at)),
    key: (one) => lastOf(one)?.at,
    isDescending: true,
  },
];

/** What the search looks at. */
export function textOf(one: FleetDatabase): string {
  const last = lastOf(one);
  const migration = last === undefined ? "" : formatMigration(last);
  return [one.name, migration, ...problemsOf(one), holderOf(one), last?.by, last?.at].join(" ").toLowerCase();
}

function lastOf(one: FleetDatabase) {
  return "error" in one ? undefined : one.last;
}

function holderOf(one: FleetDatabase): string | undefined {
  return "error" in one ? undefined : one.holder;
}

function lastCell(one: FleetDatabase): Child {
  const last = lastOf(one);
  if (last !== undefined) return code(formatMigration(last));
  return html("span", { class: "quiet" }, "error" in one ? "unknown" : "none");
}

function problemsOf(one: FleetDatabase): readonly string[] {
  if ("error" in one) return [`${one.error.message} (${one.error.code})`];
  return [...one.unfinished.map((version) => `${formatVersion(version)} is unfinished`), ...one.problems];
}

function problemsCell(one: FleetDatabase): Child {
  const texts = problemsOf(one).map((text) => html("p", {}, text));
  return "error" in one ? [badge("bad", "unreadable"), ...texts] : texts;
}

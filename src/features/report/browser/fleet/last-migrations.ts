/** How many databases each migration ran in last, as bars. */
import { count } from "../../../../errors/entry.ts";
import type { FleetDatabase } from "../../report-document.ts";
import { formatMigration } from "../../../../migrations/file-name.ts";
import { code, html, percent, svg, type Child } from "../dom.ts";
import { longList } from "../parts.ts";

const withoutMigration = ["no migration", "unreadable"] as const;

/** The newest migration first. */
export function lastMigrations(databases: readonly FleetDatabase[]): readonly Child[] {
  const groups = [...Map.groupBy(databases, labelOf)].toSorted(
    ([, [one]], [, [other]]) => lastApplied(other!) - lastApplied(one!),
  );
  const most = Math.max(...groups.map(([, group]) => group.length));
  const bars = groups.map(([label, { length }]) => {
    const isMigration = !(withoutMigration as readonly string[]).includes(label);
    const bar = svg("rect", { width: percent(length / most), height: 12, rx: 2 });
    return html(
      "li",
      { class: isMigration ? undefined : label.replace(" ", "-") },
      isMigration ? code(label) : html("span", {}, label),
      svg("svg", { height: 12, width: "100%", "aria-hidden": "true" }, bar),
      html("span", { class: "quiet" }, count(length, "database")),
    );
  });
  return longList("bars", "migration", bars);
}

function labelOf(one: FleetDatabase): string {
  if ("error" in one) return withoutMigration[1];
  return one.last === undefined ? withoutMigration[0] : formatMigration(one.last);
}

/** The version of the last migration; below all versions where there is none. */
export function lastApplied(one: FleetDatabase): number {
  if ("error" in one) return -2;
  return one.last?.version ?? -1;
}

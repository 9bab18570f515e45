/** Drift, values that are being computed, recall, and kept versions: each as a table, if there is something to show. */
import { formatNumber } from "../../../errors/entry.ts";
import type { ReportDocument, ReportedDrift } from "../report-document.ts";
import { code, html } from "./dom.ts";
import { badge, grid, section } from "./parts.ts";
import { linkTo, time } from "./words.ts";

export function driftSection({ drift }: ReportDocument): HTMLElement | undefined {
  if (!drift.checked || drift.differences.length === 0) return undefined;
  const rows = drift.differences.map((difference) => {
    const { table, differences } = difference;
    const since = sinceWords(difference);
    const when = since?.time === undefined ? "unknown" : time(since.time);
    const doubt =
      since === undefined ? undefined : since.orEarlier ? " or earlier" : since.orLater ? " or later" : undefined;
    const version = since === undefined ? undefined : html("span", { class: "quiet" }, `, version ${since.version}`);
    return [code(table), html("ul", {}, ...differences.map((text) => html("li", {}, text))), [when, doubt, version]];
  });
  const lead = "Something other than a migration has changed these tables.";
  return section("drift", "Drift", lead, grid(["Table", "What differs", "Since (UTC)"], rows));
}

export function preparingSection({ preparing }: ReportDocument): HTMLElement | undefined {
  if (preparing.length === 0) return undefined;
  const rows = preparing.map(({ version, table, path, rows: all, computed, failed, perSecond }) => {
    const speed = perSecond === undefined ? "" : `, ${formatNumber(Math.round(perSecond))} per second`;
    const words = `${formatNumber(computed)} of ${formatNumber(all)} rows${speed}`;
    const bar = html("progress", { max: Math.max(all, 1), value: computed, "aria-label": `${table}.${path}` });
    const problem = failed === 0 ? "" : badge("bad", `${formatNumber(failed)} failed`);
    return [code(`${table}.${path}`), linkTo(version), [bar, ` ${words} `, problem]];
  });
  const lead = "Columns whose values migrate prepare computes ahead of migrate up.";
  return section("preparing", "Backfills", lead, grid(["Column", "Migration", "Progress"], rows));
}

export function recallSection({ recall }: ReportDocument): HTMLElement | undefined {
  if (recall === undefined || recall.length === 0) return undefined;
  const rows = recall.map(({ table, index, column, k, recall: share, minRecall, sampled }) => {
    const words = share === undefined ? "nothing to measure" : `${(share * 100).toFixed(1)} %`;
    const isLow = share !== undefined && minRecall !== undefined && share < minRecall;
    const least = minRecall === undefined ? "" : `${(minRecall * 100).toFixed(1)} %`;
    return [
      code(index),
      code(`${table}.${column}`),
      isLow ? badge("bad", words) : words,
      least,
      `${k} neighbours of ${formatNumber(sampled)} vectors`,
    ];
  });
  const lead = "What share of the nearest neighbours a search with the vector index finds.";
  return section(
    "recall",
    "Recall of vector indexes",
    lead,
    grid(["Index", "Column", "Recall", "Required", "Measured for"], rows),
  );
}

export function keptSection({ kept }: ReportDocument): HTMLElement | undefined {
  if (kept.length === 0) return undefined;
  const rows = kept.map(({ table, version, migration }) => [
    code(table),
    String(version),
    migration === undefined ? "no migration" : code(migration),
  ]);
  const lead = "Old versions of tables that are kept so that a rollback can restore them. migrate prune releases them.";
  return section("kept", "Kept versions", lead, grid(["Table", "Version", "Restored by the rollback of"], rows));
}

type Difference = (ReportedDrift & { readonly checked: true })["differences"][number];

/** When it began, if that is known. */
export function sinceWords(difference: Difference) {
  return "since" in difference ? difference.since : undefined;
}

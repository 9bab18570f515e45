/** Builds the page of `migrate report` from the document in it. */
import type { ReportDocument } from "../report-document.ts";
import { changeShapes } from "./column-marks.ts";
import { columnsSection } from "./columns.ts";
import { driftSection, keptSection, preparingSection, recallSection } from "./details.ts";
import { svg } from "./dom.ts";
import { migrationList, pendingSection } from "./migrations.ts";
import { fillHeader, section } from "./parts.ts";
import { runsSection } from "./runs.ts";
import { searchBox, searchSections, type Section } from "./search.ts";
import { stateSection } from "./state.ts";
import { outcomeShapes, timeLine } from "./time-line.ts";
import { minuteOf } from "./words.ts";

const report = JSON.parse(document.getElementById("data")!.textContent) as ReportDocument;

const pending = pendingSection(report);
const migrations = migrationList(report);
const columns = columnsSection(report);
const runs = runsSection(report);
const line = timeLine(report);
const history =
  line === undefined && migrations.found.length === 0
    ? undefined
    : section("history", "Time line", "Each point is a run. All times are UTC.", line, ...migrations.parts);

const main = document.querySelector("main")!;
main.replaceChildren(
  ...[
    stateSection(report),
    driftSection(report),
    preparingSection(report),
    pending?.element,
    history,
    columns?.element,
    runs?.element,
    recallSection(report),
    keptSection(report),
  ].filter((one) => one !== undefined),
);

const searched = [
  pending,
  history === undefined ? undefined : { ...migrations, element: history },
  columns,
  runs,
].filter((one): one is Section => one !== undefined);
const { form, clear } = searchBox("Search migrations, columns, people and runs", (words) =>
  searchSections(searched, words),
);

fillHeader(report.target, `Schema report of ${minuteOf(report.madeAt)} UTC, by ${report.tool}`, form);
document.body.append(
  svg(
    "svg",
    { width: 0, height: 0, "aria-hidden": "true", class: "shapes" },
    svg("defs", {}, ...changeShapes(), ...outcomeShapes()),
  ),
);

/** Shows what a link leads to, wherever it is hidden. */
function reveal(): void {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target === null) return;
  if (target.hidden || target.closest("[hidden]") !== null) clear();
  target.closest("ol.short")?.classList.remove("short");
  const details = target.querySelector("details");
  if (details !== null) details.open = true;
  target.scrollIntoView();
  if (target.tabIndex === -1) target.focus({ preventScroll: true });
}

addEventListener("hashchange", reveal);
reveal();
// On paper, nothing can be opened.
addEventListener("beforeprint", () => {
  for (const one of document.querySelectorAll<HTMLDetailsElement>("details.table")) one.open = true;
});

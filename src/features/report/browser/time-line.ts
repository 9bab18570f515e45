/** The runs as points in time. The arrow keys move from run to run, and Enter leads to its entry in the list of runs. */
import { count } from "../../../errors/entry.ts";
import type { ReportDocument, ReportedRun } from "../report-document.ts";
import { html, percent, svg } from "./dom.ts";
import { keySign } from "./parts.ts";
import { outcomeWords, runId } from "./runs.ts";
import { axisOf, levelsOf, shareOf, ticksOf, type Axis } from "./time-axis.ts";
import { minuteOf } from "./words.ts";

const levelHeight = 13;
const mostLevels = 9;
/** The share of the width between two points. */
const distance = 0.014;

/** Undefined if nothing ran yet. */
export function timeLine({ runs, noReturn, migrations }: ReportDocument): HTMLElement | undefined {
  if (runs.length === 0) return undefined;
  const sorted = runs.toReversed();
  const axis = axisOf(sorted.map(({ began }) => Date.parse(began)));
  const shares = sorted.map(({ began }) => shareOf(Date.parse(began), axis));
  const levels = levelsOf(shares, distance, mostLevels);
  const base = Math.max(3, ...levels.map((level) => level + 1)) * levelHeight + 22;
  const points = sorted.map((run, at) => point(run, shares[at]!, base - 12 - levels[at]! * levelHeight));
  const last = migrations.find(({ version }) => version === noReturn?.version)?.at;
  const line = last === undefined ? undefined : noReturnLine(shareOf(Date.parse(last), axis), base);
  const picture = svg(
    "svg",
    {
      class: "time-line",
      width: "100%",
      height: base + 26,
      role: "group",
      "aria-label": `${count(runs.length, "run")}, oldest first`,
    },
    ...axisLines(axis, base),
    line,
    ...points,
  );
  moveByArrows(picture, points);
  return html("figure", {}, picture, legend());
}

function point(run: ReportedRun, share: number, y: number): SVGAElement {
  const title = `${minuteOf(run.began)} UTC: ${outcomeWords(run)}`;
  return svg(
    "a",
    { href: `#${runId(run)}`, tabindex: -1, "aria-label": title, class: `run ${run.outcome}` },
    svg("title", {}, title),
    svg("use", { href: `#o-${run.outcome}`, x: percent(share), y }),
  );
}

function axisLines(axis: Axis, base: number): readonly SVGElement[] {
  return [
    svg("line", { class: "axis", x1: 0, x2: "100%", y1: base, y2: base }),
    ...ticksOf(axis).flatMap(({ at, text }) => [
      svg("line", { class: "axis", x1: percent(at), x2: percent(at), y1: base, y2: base + 5 }),
      svg(
        "text",
        { x: percent(at), y: base + 20, "text-anchor": at < 0.04 ? "start" : at > 0.96 ? "end" : "middle" },
        text,
      ),
    ]),
  ];
}

function noReturnLine(at: number, base: number): SVGElement {
  const anchor = at > 0.8 ? "end" : "start";
  return svg(
    "g",
    { class: "no-return" },
    svg("line", { x1: percent(at), x2: percent(at), y1: 4, y2: base }),
    svg(
      "text",
      { x: percent(at), y: 14, dx: anchor === "end" ? -6 : 6, "text-anchor": anchor },
      "no way back past here",
    ),
  );
}

/** One stop of the Tab key for all of them. */
function moveByArrows(picture: SVGElement, points: readonly SVGAElement[]): void {
  points.at(-1)!.setAttribute("tabindex", "0");
  const steps: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };
  picture.addEventListener("keydown", ({ key }) => {
    const step = steps[key];
    const at = points.findIndex((one) => one === document.activeElement);
    if (step === undefined || at === -1) return;
    const next = points[Math.max(0, Math.min(points.length - 1, at + step))]!;
    points[at]!.setAttribute("tabindex", "-1");
    next.setAttribute("tabindex", "0");
    next.focus();
  });
}

const kinds = [
  ["applied", "applied"],
  ["baselined", "baselined"],
  ["reverted", "reverted"],
  ["failed", "failed"],
  ["unfinished", "interrupted or unfinished"],
  ["other", "other"],
] as const;

function legend(): HTMLElement {
  const items = kinds.map(([outcome, text]) => html("li", {}, keySign(`run ${outcome}`, `o-${outcome}`), text));
  return html("figcaption", {}, html("ul", { class: "legend" }, ...items));
}

/** The shapes, around their own middle. */
export function outcomeShapes(): readonly SVGElement[] {
  const cross = "M-4-4 4 4M4-4-4 4";
  const triangle = "M0-5 5 4-5 4Z";
  return [
    svg("circle", { id: "o-applied", r: 4.5 }),
    svg("rect", { id: "o-baselined", x: -4, y: -4, width: 8, height: 8, class: "hollow" }),
    svg("circle", { id: "o-reverted", r: 4, class: "hollow" }),
    svg("path", { id: "o-failed", d: cross, class: "stroke" }),
    svg("path", { id: "o-interrupted", d: triangle }),
    svg("path", { id: "o-unfinished", d: triangle }),
    svg("circle", { id: "o-other", r: 2.5 }),
  ];
}

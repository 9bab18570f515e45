/** Who ran what, when, and how long it took. */
import { count } from "../../../errors/entry.ts";
import { formatMigration, formatVersion } from "../../../migrations/file-name.ts";
import type { ReportDocument, ReportedEvent, ReportedRun } from "../report-document.ts";
import { renderDuration } from "../../../cli/render/times.ts";
import { html, type Child } from "./dom.ts";
import { badge, longList, section, type Tone } from "./parts.ts";
import { findable, type Section } from "./search.ts";
import { linkTo, time, who } from "./words.ts";

const tones: Readonly<Record<ReportedRun["outcome"], Tone>> = {
  applied: "good",
  baselined: "plain",
  reverted: "plain",
  failed: "bad",
  interrupted: "warn",
  unfinished: "warn",
  other: "plain",
};

export function runId({ run }: ReportedRun): string {
  return `run-${run}`;
}

/** "applied 0012_headlines and 2 more by ann@laptop". */
export function outcomeWords(run: ReportedRun): string {
  return `${run.outcome} ${whatOf(run)} by ${who(run.by)}`.replace("  ", " ");
}

function whatOf({ events }: ReportedRun): string {
  const names = [...new Set(events.flatMap((event) => nameOf(event) ?? []))];
  const [first = "", ...others] = names;
  return others.length === 0 ? first : `${first} and ${others.length} more`;
}

function nameOf({ version, name }: ReportedEvent): string | undefined {
  if (version === undefined) return undefined;
  return name === undefined ? formatVersion(version) : formatMigration({ version, name });
}

export function runsSection({ runs }: ReportDocument): Section | undefined {
  if (runs.length === 0) return undefined;
  const rows = runs.map((run) => row(run));
  const people = new Set(runs.map(({ by }) => who(by))).size;
  const lead = `${count(runs.length, "run")} by ${people === 1 ? "one person or machine" : `${people} people and machines`}, the newest first. All times are UTC.`;
  const element = section("runs", "Runs", lead, ...longList("rows", "run", rows));
  return { element, noun: "run", found: runs.map((run, at) => findable(rows[at]!, ...textsOf(run))) };
}

function row(run: ReportedRun): HTMLElement {
  const { began, by, milliseconds, outcome, events, tool } = run;
  const summary = html(
    "summary",
    {},
    badge(tones[outcome], outcome),
    html("code", {}, whatOf(run)),
    html("span", { class: "when" }, time(began)),
    html("span", { class: "by" }, who(by)),
    html("span", { class: "took" }, milliseconds === undefined ? "" : renderDuration(milliseconds)),
  );
  const facts = html("p", { class: "quiet" }, `Run by ${by} with ${tool}, as ${run.run}.`);
  const body = html("div", { class: "body" }, html("ol", { class: "events" }, ...events.map(eventLine)), facts);
  return html("li", { id: runId(run), tabindex: -1 }, html("details", {}, summary, body));
}

function eventLine(event: ReportedEvent): HTMLElement {
  const { at, version, detail } = event;
  const name: Child = version === undefined ? undefined : [" ", linkTo(version, nameOf(event)!)];
  const more = detail === undefined ? undefined : html("span", { class: "detail" }, detail);
  return html("li", {}, time(at), " ", event.event, name, more);
}

function textsOf(run: ReportedRun): readonly (string | undefined)[] {
  const parts = run.events.flatMap((event) => [nameOf(event), event.event, event.detail]);
  return [run.run, run.by, run.outcome, run.began, ...parts];
}

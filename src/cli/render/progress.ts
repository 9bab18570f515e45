/** Shows what a run is doing: on a terminal in a line that replaces itself, elsewhere in a line now and then. */
import { count, formatNumber } from "../../errors/migrate-error.ts";
import type { PreparedProgress } from "../../run/computed.ts";
import type { Phase } from "../../run/phase.ts";
import type { RunEvent } from "../../run/events.ts";
import { systemClock, type Clock } from "../../time/clock.ts";
import type { Output } from "../command/output.ts";
import { renderDuration, renderTime } from "./times.ts";

/** Milliseconds between two looks. */
const pause = 500;
/** Without a terminal: milliseconds after which the first line is printed. The next ones take twice as long each time. */
const firstPause = 10_000;
const longestPause = 60_000;

/** Something that is under way. */
interface Work {
  readonly text: string;
  readonly started: number;
  /** After which time it is reported, where there is no terminal. */
  reported: number;
  pause: number;
  /** What computing a column is at, after all is computed. */
  phase?: Phase;
  /** The rows that the phase is done with, as they were at the last report, and at two earlier ones. */
  rows?: ComputedRows | undefined;
}

interface Report {
  readonly at: number;
  readonly computed: number;
}

interface ComputedRows extends Report {
  readonly total: number | undefined;
  /** The rate is measured from this report on. An old one would hide that the rate has changed. */
  readonly since: Report;
  /** Replaces `since` once it is old enough. */
  readonly next: Report;
}

/** In milliseconds. After the first such period, the rate is the mean of at least this time, and about twice as much at most. */
const ratePeriod = 30_000;

export interface ShownProgress {
  see(event: RunEvent): void;
  /** Called when the run has ended, in whatever way. */
  end(): void;
}

export function showProgress(output: Output, clock: Clock = systemClock): ShownProgress {
  const underWay = new Map<string, Work>();
  const look = () => {
    const [first] = underWay.values();
    if (output.live && first !== undefined) passLine(first);
    if (!output.live) for (const work of underWay.values()) reportIfDue(work);
  };
  const passLine = (work: Work) => {
    const { text, started } = work;
    const others = underWay.size === 1 ? "" : ` (and ${underWay.size - 1} more)`;
    output.passing(`  ${text}${others}`, `  ${renderDuration(clock.steady() - started)}${phaseWords(work, ": ")}`);
  };
  const reportIfDue = (work: Work) => {
    const elapsed = clock.steady() - work.started;
    if (elapsed < work.reported) return;
    const words = `still running after ${renderDuration(elapsed)}${phaseWords(work, ", ")}`;
    output.progress(`${renderTime(clock.wall())}  ${work.text}: ${words}`);
    work.reported = elapsed + work.pause;
    work.pause = Math.min(2 * work.pause, longestPause);
  };
  let stop: (() => void) | undefined;
  const begin = (key: string, text: string) => {
    stop ??= clock.every(pause, look);
    output.passing(`  ${text}`, " …");
    underWay.set(key, { text, started: clock.steady(), reported: firstPause, pause: firstPause });
  };
  return {
    see(event) {
      switch (event.event) {
        case "action":
          return begin(keyOf(event), event.text);
        case "preparing":
          return begin("prepare", `${event.table}.${event.path}`);
        case "phase":
          for (const work of underWay.values()) notePhase(work, event, clock.steady());
          return look();
        case "computed":
          // What computes rows runs alone.
          for (const work of underWay.values()) noteRows(work, event, clock.steady());
          return look();
        case "done":
          return void underWay.delete(keyOf(event));
        case "applied":
        case "reverted":
        case "left":
        case "finished":
          return underWay.clear();
        default:
      }
    },
    end() {
      underWay.clear();
      stop?.();
    },
  };
}

function keyOf({ version, action }: Extract<RunEvent, { event: "action" | "done" }>): string {
  return `${version}.${action}`;
}

function notePhase(work: Work, { phase, rows, total }: Extract<RunEvent, { event: "phase" }>, now: number): void {
  // "rows computed" names that one.
  const shown = phase === "computing" ? undefined : phase;
  if (shown !== work.phase) Object.assign(work, { phase: shown, rows: undefined });
  if (total !== undefined || rows !== undefined) noteRows(work, { rows: rows ?? 0, total }, now);
}

function noteRows(
  work: Work,
  { rows, total }: Pick<Extract<RunEvent, { event: "computed" }>, "rows" | "total">,
  now: number,
): void {
  const report: Report = { at: now, computed: rows };
  // Rows that were written meanwhile are counted from the first.
  const { since, next } =
    work.rows !== undefined && rows >= work.rows.computed ? work.rows : { since: report, next: report };
  const isOver = now - next.at >= ratePeriod;
  work.rows = { ...report, total, since: isOver ? next : since, next: isOver ? report : next };
}

/** `: loading, 41,000 of 50,000 rows, 350/s`, with this before it; nothing if nothing is known. */
function phaseWords(work: Work, separator: string): string {
  const { phase } = work;
  const rows = rowsWords(work);
  const words = phase === undefined ? rows : rows === undefined ? phase : `${phase}, ${rows}`;
  return words === undefined ? "" : `${separator}${words}`;
}

function rowsWords({ phase, rows }: Work): string | undefined {
  if (rows === undefined) return undefined;
  const { since, at, computed, total } = rows;
  // The phase states what is done with them.
  const did = phase === undefined ? " computed" : "";
  const seconds = (at - since.at) / 1_000;
  const perSecond = seconds < 1 || computed === since.computed ? undefined : (computed - since.computed) / seconds;
  // Others may have added rows since they were counted.
  if (total !== undefined && computed <= total) return doneWords({ rows: total, computed, perSecond }, did);
  const speed = perSecond === undefined ? "" : `, ${speedWords(perSecond)}`;
  return `${count(computed, "row")}${did}${speed}`;
}

/** `41,000 of 50,000 rows computed, 350/s, about 26.0 s left`. */
export function preparedWords({ failed, ...progress }: PreparedProgress): string {
  return [doneWords(progress, " computed"), ...(failed === 0 ? [] : [`${failed} failed`])].join(", ");
}

/** Of a column that is prepared: rows may have been written since. */
export function restWords({ rows, computed, failed }: PreparedProgress): string {
  return rows > computed + failed ? "; migrate up computes the rest" : "";
}

function doneWords({ rows, computed, perSecond }: Omit<PreparedProgress, "failed">, did: string): string {
  const left = rows - computed;
  const all = left === 0 ? count(rows, "row") : `${formatNumber(computed)} of ${count(rows, "row")}`;
  const speed = perSecond === undefined || left === 0 ? [] : [speedWords(perSecond)];
  const eta = perSecond === undefined || left === 0 ? [] : [`about ${renderDuration((left / perSecond) * 1_000)} left`];
  return [`${all}${did}`, ...speed, ...eta].join(", ");
}

function speedWords(perSecond: number): string {
  return `${perSecond < 10 ? perSecond.toFixed(1) : formatNumber(Math.round(perSecond))}/s`;
}

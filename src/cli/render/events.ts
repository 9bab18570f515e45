/** Renders events as text. */
import { count, someOf } from "../../errors/migrate-error.ts";
import { formatMigration } from "../../migrations/file-name.ts";
import type { CheckedRelease } from "../../plan/checked-contracts.ts";
import type { Emit, RunEvent } from "../../run/events.ts";
import { deferralText } from "../../run/deferral-text.ts";
import { describeRecall, evaluationWords, sampleWords } from "./recall.ts";
import type { Context, Events } from "../command/command.ts";
import type { Output } from "../command/output.ts";
import { releaseNames } from "./contracts.ts";
import { groupWords } from "./plan-words.ts";
import { newDatabaseNotes } from "./new-database.ts";
import { showProgress } from "./progress.ts";
import { renderDuration } from "./times.ts";

/** What a result depends on if the target gives no columns. */
export function onlyNamesCompared(target: string): string {
  return `${target} can't describe its tables, so only their names were compared`;
}

export function caughtUpWords({ table, path, rows }: Extract<RunEvent, { event: "caughtUp" }>): string {
  return `computed ${table}.${path} for ${count(rows, "row")} that applications had left without a right value`;
}

/** Prints the events of a run that takes the lease. `also` gets them too. */
export function runEvents(context: Context, also?: Emit): Events {
  const { output, underWay } = context;
  const print = printEvents(output);
  const see = (event: RunEvent) => {
    // A run may be ended anywhere until it asks for the lease, and while it waits for the run that holds the lease.
    if (event.event === "taking" || event.event === "waiting") underWay(event.event === "taking");
    also?.(event);
    print(event);
  };
  return Object.assign(see, { end: print.end });
}

/** Prints the events of a run as progress. */
export function printEvents(output: Output): Events {
  const progress = showProgress(output);
  const see = (event: RunEvent) => {
    progress.see(event);
    renderEvent(event, output);
  };
  return Object.assign(see, { end: progress.end });
}

/** Prints one event of a run as progress, as far as it does not concern something that is under way. */
export function renderEvent(event: RunEvent, output: Output): void {
  for (const line of progressLines(event)) output.progress(line);
}

/** Of none, the notes state why. */
function contractLines(releases: readonly CheckedRelease[]): readonly string[] {
  return releases.length === 0 ? [] : [`contracts: ${releaseNames(releases)}`];
}

function progressLines(event: RunEvent): readonly string[] {
  switch (event.event) {
    case "planned": {
      const { migrations, direction, actions, risks, newDatabase } = event;
      const what = `${count(migrations.length, "migration")} ${direction === "up" ? "pending" : "to roll back"}`;
      // Which ones it rolls back depends on what ran last, and nothing asks outside a terminal.
      const which = direction === "up" ? "" : `: ${someOf(migrations.map(formatMigration))}`;
      const losses = risks.filter(({ kind }) => kind === "loss").map(({ text }) => `note: ${text}`);
      return [`${what}, ${count(actions, "action")}${which}`, ...newDatabaseNotes(newDatabase), ...losses];
    }
    case "contracts":
      return [...contractLines(event.releases), ...event.notes.map((words) => `note: ${words}`)];
    case "accepted":
      return [`note: ${event.words}`];
    case "recognised":
      return [`${formatMigration(event)} ran here as ${event.was.join(", ")}: recorded`];
    case "missing": {
      const where = event.bundle === undefined ? "without a file" : `and not in ${event.bundle}`;
      return [`note: applied here ${where}: ${event.migrations.map(formatMigration).join(", ")}`];
    }
    case "waiting": {
      const then = event.direction === "down" ? ", or refuses if a migration is half done then" : "";
      return [
        `waiting for ${event.by}, which holds the lease; this run takes over after ${renderDuration(event.lease)} without a record of it${then}`,
      ];
    }
    case "takenOver":
      if (event.isGone === true) return [`${event.by} has ended without releasing its lease; taking over`];
      return [`${event.by} has written no record for the whole time of its lease; taking over`];
    case "started": {
      const { direction, done, total } = event;
      const part = done > 0 ? `: ${done} of ${count(total, "action")} done already` : "";
      return [`${direction === "up" ? "" : "rolling back "}${formatMigration(event)}${part}`];
    }
    case "group": {
      const [first, last] = [event.migrations[0]!, event.migrations.at(-1)!].map(formatMigration);
      return [`${first} to ${last}${groupWords(event.calls)}`];
    }
    case "notComputed":
      if (event.path === undefined)
        return [
          event.rows === 0
            ? `note: rows of ${event.table} may be outdated: ${event.problem}; another populateTable computes them`
            : `note: the rows of ${event.table} from ${event.rows === undefined ? "rows" : count(event.rows, "source row")} could not be computed, and stay as they were; the first: ${event.problem}`,
        ];
      return [
        event.rows === undefined
          ? `note: it is unknown whether rows of ${event.table} lack a right value of ${event.path}: ${event.problem}`
          : `note: ${count(event.rows, "row")} of ${event.table} got no value of ${event.path}; the first: ${event.problem}`,
      ];
    case "printed":
      return [`  ${columnLabel(event)}: ${event.line}`];
    case "loaded": {
      const { rows, problem } = event;
      const column = `  ${event.table}.${event.path}: `;
      const script = "the Python script that";
      const loaded = `${column}${count(rows, "value")} loaded with files of the column`;
      if (problem === undefined) return [loaded];
      return rows === 0
        ? [`${column}values are merged into the table, because ${script} would load them failed: ${problem}`]
        : [`${loaded}; the rest is merged into the table, because ${script} loads them failed: ${problem}`];
    }
    case "hookFailed":
      return [`note: ${event.problem}`];
    case "outrun":
      return [
        `  ${event.table}.${event.path}: writes of others have come first ${event.tries} times in ${renderDuration(event.elapsed)} (${event.text}), trying again; if this does not end, pause these writers, above all what optimizes the table`,
      ];
    case "deferred":
      return [`note: ${deferralText(event)}`];
    case "notIndexed":
      return [
        `note: index ${event.index} of ${event.table} could not be built: ${event.problem}; migrate up tries again when the table has changed`,
      ];
    case "evaluated":
      return [
        `  ${event.table}.${event.path}: ${evaluationWords(event)}`,
        ...event.samples.map((sample) => `    ${sampleWords(sample)}`),
      ];
    case "recall":
      return [`  ${event.index} of ${event.table}: ${describeRecall(event.k, event)}`];
    case "preparing":
      return [`preparing ${event.table}.${event.path}`];
    case "retried":
      return [
        `  ${event.text}: ${event.reason === "conflict" ? "another writer came first" : event.problem}, trying again`,
      ];
    case "detour":
      return [`  other writers append without pause: ${event.text}, temporarily`];
    case "done":
      return [`  ${event.text} (${renderDuration(event.duration)})`];
    case "unseen":
      return [
        `note: action ${event.action} of ${formatMigration(event)} changes rows of ${event.table}, and a run that was stopped during it may have changed them late: ${event.check}`,
      ];
    case "unkept":
      return [
        `note: the version of ${event.table} from before ${formatMigration(event)} can't be kept: ${event.problem}; migrate down can restore it only until old versions are cleaned up`,
      ];
    case "left": {
      const { direction, isTakenOver, applied, done, total } = event;
      const [past, part] = direction === "up" ? ["applied", "of"] : ["rolled back", "that roll back"];
      return [
        `${count(applied, "migration")} ${past}, ${done} of ${count(total, "action")} ${part} ${formatMigration(event)} done${isTakenOver ? " by this run; see with migrate status what another run has done since" : `; the next migrate ${direction} resumes it`}`,
      ];
    }
    case "action":
    case "running":
    case "caughtUp":
    case "computed":
    case "phase":
    case "taking":
    case "applied":
    case "reverted":
    case "finished":
    case "indexed":
      return [];
  }
}

/** The column that is computed, or the table whose rows are. */
function columnLabel({ table, path }: { readonly table: string; readonly path?: string | undefined }): string {
  return path === undefined ? table : `${table}.${path}`;
}

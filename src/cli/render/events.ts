/** Renders events and tables as text. */
import { count } from "../../errors/migrate-error.ts";
import { formatMigration } from "../../migrations/file-name.ts";
import type { Emit, RunEvent } from "../../run/events.ts";
import type { Context } from "../command/command.ts";
import type { Output } from "../command/output.ts";

/** Rows as lines with columns of equal width. */
export function renderTable(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = rows.reduce<number[]>(
    (most, row) => row.map((cell, index) => Math.max(most[index] ?? 0, cell.length)),
    [],
  );
  return rows.map((row) =>
    row
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

/** A duration in milliseconds as text: `4 ms`, `1.5 s`, `2.0 min`. */
export function renderDuration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1000;
  return seconds < 90 ? `${seconds.toFixed(1)} s` : `${(seconds / 60).toFixed(1)} min`;
}

/** A time in UTC, to the second. */
export function renderTime(at: number): string {
  return new Date(at)
    .toISOString()
    .replace("T", " ")
    .replace(/\.\d+Z$/, "Z");
}

/** What a result depends on if the target gives no columns. */
export function onlyNamesCompared(target: string): string {
  return `${target} can't describe its tables, so only their names were compared`;
}

/** Prints the events of a run that takes the lease. `also` gets them too. */
export function runEvents({ output, underWay }: Context, also?: Emit): Emit {
  return (event) => {
    // A run may be ended anywhere until it asks for the lease, and while it waits for the run that holds the lease.
    if (event.event === "taking" || event.event === "waiting") underWay(event.event === "taking");
    also?.(event);
    renderEvent(event, output);
  };
}

/** Prints one event of a run as progress. */
export function renderEvent(event: RunEvent, output: Output): void {
  switch (event.event) {
    case "planned":
      output.progress(
        `${count(event.migrations.length, "migration")} ${event.direction === "up" ? "pending" : "to roll back"}, ${count(event.actions, "action")}`,
      );
      for (const { kind, text } of event.risks) if (kind === "loss") output.progress(`note: ${text}`);
      return undefined;
    case "accepted":
      return output.progress(`note: ${event.words}`);
    case "recognised":
      return output.progress(`${formatMigration(event)} ran here as ${event.was.join(", ")}: recorded`);
    case "missing":
      return output.progress(`note: applied here without a file: ${event.migrations.map(formatMigration).join(", ")}`);
    case "waiting":
      return output.progress(
        `waiting for ${event.by}, who holds the lease; after ${renderDuration(event.lease)} of silence it is taken over`,
      );
    case "takenOver":
      return output.progress(`${event.by} has not been heard of for a whole lease; taking over`);
    case "started":
      return output.progress(
        `${event.direction === "up" ? "" : "rolling back "}${formatMigration(event)}${event.done > 0 ? `: ${event.done} of ${count(event.total, "action")} done already` : ""}`,
      );
    case "action":
      return output.passing(`  ${event.text} …`);
    case "running":
      return process.stderr.isTTY
        ? output.passing(`  ${event.text} … ${renderDuration(event.elapsed)}`)
        : output.progress(`  ${event.text}: still running after ${renderDuration(event.elapsed)}`);
    case "retried":
      return output.progress(
        `  ${event.text}: ${event.reason === "conflict" ? "another writer came first" : event.problem}, trying again`,
      );
    case "detour":
      return output.progress(`  others append without pause: ${event.text}, for a moment`);
    case "done":
      return output.progress(`  ${event.text} (${renderDuration(event.duration)})`);
    case "unseen":
      return output.progress(
        `note: action ${event.action} of ${formatMigration(event)} changes rows of ${event.table}, and a run that was stopped in it may have made that change late; look at the rows`,
      );
    case "unkept":
      return output.progress(
        `note: the version of ${event.table} from before ${formatMigration(event)} can't be kept: ${event.problem}; migrate down restores it until old versions are cleaned up`,
      );
    case "left":
      return output.progress(
        event.direction === "up"
          ? `${count(event.applied, "migration")} applied, ${event.done} of ${count(event.total, "action")} of ${formatMigration(event)} done; the next migrate up resumes it`
          : `${count(event.applied, "migration")} rolled back, ${event.done} of ${count(event.total, "action")} that roll back ${formatMigration(event)} done; the next migrate down resumes it`,
      );
    case "taking":
    case "applied":
    case "reverted":
    case "finished":
      return undefined;
  }
}

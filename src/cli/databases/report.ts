/** What a command on many databases prints: progress while it runs, and one report at its end. */
import { count, firstLine, isMigrateError, MigrateError, type Outcome } from "../../errors/migrate-error.ts";
import type { DatabaseEnd, Untried } from "../../session/on-all-databases.ts";
import type { CommandResult } from "../command/exit-code.ts";
import type { Context } from "../command/command.ts";
import { renderDuration } from "../render/events.ts";

/** The most names of databases in one line. */
const mostNames = 10;
/** Milliseconds between two lines of progress where no terminal shows a passing one. */
const progressPause = 10_000;

const reasons: Readonly<Record<Untried["why"], string>> = {
  interrupted: "",
  canary: ", because one of the first failed (--canaries)",
  failures: ", because others failed (--max-failures)",
};

/** Databases with the same result. */
interface Group {
  count: number;
  /** The first of them. */
  readonly names: string[];
}

/** `groupOf`: the result of a database as text, such as "nothing to do". */
export function databasesReport<Result>(
  { output, signal }: Pick<Context, "output" | "signal">,
  groupOf: (result: Result) => string,
  toDocument: (result: Result) => object,
) {
  const succeeded = new Map<string, Group>();
  const failed = new Map<string, Group>();
  const outcomes = new Set<Outcome>();
  const counts = { total: 0, succeeded: 0, failed: 0, interrupted: 0 };
  const started = performance.now();
  let printed = started;

  const showProgress = () => {
    const done = counts.succeeded + counts.failed + counts.interrupted;
    const words = `${done} of ${count(counts.total, "database")}${counts.failed === 0 ? "" : `, ${counts.failed} failed`}`;
    output.passing(words);
    if (process.stderr.isTTY || performance.now() - printed < progressPause) return;
    printed = performance.now();
    output.progress(`${words}, after ${renderDuration(printed - started)}`);
  };

  const succeed = (database: string, result: Result) => {
    counts.succeeded++;
    add(succeeded, groupOf(result), database);
  };
  const fail = (database: string, error: unknown) => {
    if (signal.aborted && isMigrateError(error, "ERR_INTERRUPTED")) return void counts.interrupted++;
    counts.failed++;
    outcomes.add(isMigrateError(error) ? error.outcome : "failed");
    add(failed, messageOf(error), database);
    if (output.verbose && !isMigrateError(error) && error instanceof Error)
      for (const line of error.stack?.split("\n") ?? []) output.problem(`${database}: ${line}`);
    output.progress(`${database}: ${messageOf(error)}`);
  };

  return {
    begin(total: number) {
      counts.total = total;
    },
    end(one: DatabaseEnd<Result>) {
      const { database, duration } = one;
      if ("result" in one) succeed(database, one.result);
      else fail(database, one.error);
      output.data({
        event: "ended",
        database,
        duration,
        ...("result" in one ? toDocument(one.result) : errorDocument(one.error)),
      });
      showProgress();
    },
    /** Prints the report. Returns how the command ends. Throws ERR_INTERRUPTED. */
    finish(target: string, untried: Untried): CommandResult {
      const { total, interrupted } = counts;
      const duration = Math.round(performance.now() - started);
      output.data({ event: "report", target, ...counts, untried: untried.names, duration });
      for (const [words, group] of largestFirst(succeeded)) output.result(`${membersOf(group, total)}: ${words}`);
      for (const [words, group] of largestFirst(failed)) output.problem(`${membersOf(group, total)} failed: ${words}`);
      if (interrupted > 0) output.problem(`${count(interrupted, "database")} interrupted`);
      if (untried.names.length > 0)
        output.problem(`${count(untried.names.length, "database")} not tried${reasons[untried.why]}`);
      const summary = `${counts.succeeded} of ${count(total, "database")} of ${target} done in ${renderDuration(duration)}`;
      output.result(summary);
      if (signal.aborted && interrupted + untried.names.length > 0)
        throw new MigrateError("ERR_INTERRUPTED", { done: `${summary}; the next run works on the others` });
      const [outcome = "failed"] = outcomes;
      return counts.failed === 0 ? undefined : outcomes.size === 1 ? outcome : "failed";
    },
  };
}

function add(groups: Map<string, Group>, words: string, database: string): void {
  const group = groups.get(words) ?? { count: 0, names: [] };
  groups.set(words, group);
  group.count++;
  if (group.names.length < mostNames) group.names.push(database);
}

function largestFirst(groups: ReadonlyMap<string, Group>): readonly (readonly [words: string, group: Group])[] {
  return [...groups].toSorted(([, one], [, other]) => other.count - one.count);
}

/** "3 databases (acme, globex, initech)", or just how many if they are all of them. */
function membersOf({ count: members, names }: Group, total: number): string {
  const all = count(members, "database");
  if (members === total && total > 1) return `all ${all}`;
  const others = members - names.length;
  return `${all} (${names.toSorted().join(", ")}${others === 0 ? "" : ` and ${others} more`})`;
}

function messageOf(error: unknown): string {
  return isMigrateError(error) ? error.message : `internal error: ${firstLine(error)}`;
}

function errorDocument(error: unknown) {
  return { code: isMigrateError(error) ? error.code : "ERR_INTERNAL", message: messageOf(error) };
}

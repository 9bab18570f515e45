/** What a command on many databases prints: progress while it runs, and one report at its end. */
import { isError } from "../../checks/realm.ts";
import {
  count,
  formatNumber,
  firstLine,
  isMigrateError,
  MigrateError,
  type Outcome,
} from "../../errors/migrate-error.ts";
import type { DatabaseEnd, Untried } from "./on-all-databases.ts";
import type { Printed } from "../../cli/json/shared.ts";
import { exitCodeOf, type CommandResult } from "../../cli/command/exit-code.ts";
import type { CommandInput } from "../../cli/command/additions.ts";
import type * as shapes from "./json.ts";
import { renderDuration } from "../../cli/render/times.ts";

/** The most names of databases in one line. */
const mostNames = 10;
/** Milliseconds between two lines of progress where no terminal shows a passing one. */
const progressPause = 10_000;

const reasons: Readonly<Record<Untried["why"], string>> = {
  interrupted: "",
  canary: ", because one of the first failed (--canaries)",
  failures: ", because others failed (--max-failures)",
};

/** What became of one database of several. */
type DatabaseResult = Printed<typeof shapes.databaseResult>;

/** By the result as text: the databases, by their places in the list. */
type DatabasesByResult = Map<string, number[]>;

/**
 * `groupOf`: the result of a database as text, such as "nothing to do". `toDocument`: absent if the command prints one
 * document about all databases.
 */
export function databasesReport<Result>(
  { output, signal }: Pick<CommandInput, "output" | "signal">,
  groupOf: (result: Result) => string,
  toDocument?: (result: Result) => DatabaseResult,
) {
  const succeeded: DatabasesByResult = new Map();
  const failed: DatabasesByResult = new Map();
  const interrupted: number[] = [];
  const outcomes = new Set<Outcome>();
  const counts = { succeeded: 0, failed: 0 };
  const started = performance.now();
  let all: readonly string[] = [];
  let places: ReadonlyMap<string, number> = new Map();
  let printed = started;

  const showProgress = () => {
    const done = counts.succeeded + counts.failed + interrupted.length;
    const words = `${done} of ${count(all.length, "database")}${counts.failed === 0 ? "" : `, ${counts.failed} failed`}`;
    output.passing(words);
    if (output.live || performance.now() - printed < progressPause) return;
    printed = performance.now();
    output.progress(`${words}, after ${renderDuration(printed - started)}`);
  };

  const fail = (database: string, error: unknown) => {
    const place = places.get(database)!;
    if (signal.aborted && isMigrateError(error, "ERR_INTERRUPTED")) return void interrupted.push(place);
    counts.failed++;
    outcomes.add(isMigrateError(error) ? error.outcome : "failed");
    add(failed, withoutName(messageOf(error), database), place);
    if (output.verbose && !isMigrateError(error) && isError(error))
      for (const line of error.stack?.split("\n") ?? []) output.problem(`${database}: ${line}`);
    output.progress(`${database}: ${messageOf(error)}`);
  };

  const namesAt = (group: readonly number[]) => group.toSorted((one, other) => one - other).map((at) => all[at]!);
  /** "3 databases (acme, globex, initech)", or just how many if they are all of them. */
  const membersOf = (group: readonly number[]) => {
    const words = count(group.length, "database");
    return group.length === all.length && group.length > 1 ? `all ${words}` : `${words} (${listed(namesAt(group))})`;
  };

  const messageFor = (words: string, group: readonly number[]) =>
    group.length === 1 ? withName(words, all[group[0]!]!) : words;

  return {
    begin(names: readonly string[]) {
      all = names;
      places = new Map(names.map((name, at) => [name, at]));
    },
    end(one: DatabaseEnd<Result>) {
      const { database, duration } = one;
      if ("result" in one) {
        counts.succeeded++;
        add(succeeded, groupOf(one.result), places.get(database)!);
      } else fail(database, one.error);
      if (toDocument !== undefined)
        output.data<typeof shapes.up | typeof shapes.status>({
          event: "ended",
          database,
          duration,
          ...("result" in one ? toDocument(one.result) : errorDocument(one.error)),
        });
      showProgress();
    },
    /** Prints the report. Returns how the command ends. Throws ERR_INTERRUPTED. */
    finish(target: string, { names: untried, why }: Untried): CommandResult {
      const duration = Math.round(performance.now() - started);
      if (toDocument !== undefined)
        output.data<typeof shapes.up | typeof shapes.status>({
          event: "report",
          target,
          databases: all.length,
          succeeded: counts.succeeded,
          failed: largestFirst(failed).map(([words, group]) => ({
            message: messageFor(words, group),
            databases: namesAt(group),
          })),
          interrupted: namesAt(interrupted),
          untried,
          duration,
        });
      for (const [words, group] of largestFirst(succeeded)) output.result(`${membersOf(group)}: ${words}`);
      for (const [words, group] of largestFirst(failed))
        output.problem(`${membersOf(group)} failed: ${messageFor(words, group)}`);
      if (interrupted.length > 0) output.problem(`${membersOf(interrupted)} interrupted`);
      if (untried.length > 0)
        output.problem(`${count(untried.length, "database")} (${listed(untried)}) not tried${reasons[why]}`);
      const summary = `${formatNumber(counts.succeeded)} of ${count(all.length, "database")} of ${target} done in ${renderDuration(duration)}`;
      output.result(summary);
      if (signal.aborted && interrupted.length + untried.length > 0)
        throw new MigrateError("ERR_INTERRUPTED", { done: `${summary}; the next run works on the others` });
      const [outcome = "failed"] = outcomes;
      return counts.failed === 0 ? undefined : outcomes.size === 1 ? outcome : "failed";
    },
  };
}

function add(groups: DatabasesByResult, words: string, place: number): void {
  const group = groups.get(words) ?? [];
  groups.set(words, group);
  group.push(place);
}

function largestFirst(groups: DatabasesByResult): readonly (readonly [words: string, group: readonly number[]])[] {
  return [...groups].toSorted(([, one], [, other]) => other.length - one.length);
}

function listed(names: readonly string[]): string {
  const others = names.length - mostNames;
  return `${names.slice(0, mostNames).join(", ")}${others > 0 ? ` and ${others} more` : ""}`;
}

/** Stands for the name of the database in a message that several have in common, as in the configuration. */
const anyName = "{database}";

/** The message for all databases, without the name of this one where it is a word of its own. */
function withoutName(message: string, name: string): string {
  const isPart = (character: string | undefined) => character !== undefined && /\w/.test(character);
  return message.split(name).reduce((before, after) => {
    const isWord = !isPart(before.at(-1)) && !isPart(after[0]);
    return `${before}${isWord ? anyName : name}${after}`;
  });
}

function withName(message: string, name: string): string {
  return message.replaceAll(anyName, name);
}

function messageOf(error: unknown): string {
  return isMigrateError(error) ? error.message : `internal error: ${firstLine(error)}`;
}

function errorDocument(error: unknown) {
  return { ...problemOf(error), exit: exitCodeOf(error) };
}

export function problemOf(error: unknown) {
  return { code: isMigrateError(error) ? error.code : ("ERR_INTERNAL" as const), message: messageOf(error) };
}

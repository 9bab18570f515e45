import { execFileSync } from "node:child_process";
import { inTurn } from "../files.ts";

/** Whether everything is tried that chance or a list could decide: every night, and not for each commit. */
export const isLong = process.env["MIGRATE_LONG"] === "1";

/** How often a test tries what chance decides: a few times in `npm test`, as often as it should with `MIGRATE_LONG=1 npm test`. */
export function rounds(few: number, all: number): number {
  return isLong ? all : few;
}

/**
 * Which cases a test tries that all take the same way through the code: with `MIGRATE_LONG=1` all, and otherwise one. The
 * first test of a file has the first, the second the next, and so on, so that a file tries all of them.
 */
export function casesInTurn(): <Case>(cases: readonly Case[]) => readonly Case[] {
  let turn = 0;
  return (cases) => (isLong ? cases : [cases[turn++ % cases.length]!]);
}

/** A mutant may show in one case alone, and its copy of the sources belongs to no commit. */
const triesAll = isLong || process.env["MIGRATE_ALL_CASES"] === "1";

/** Every `of`th case; with each commit others. With `MIGRATE_LONG=1`, and while mutants are tried, all. */
export function ofThisCommit<Case>(cases: readonly Case[], of: number): readonly Case[] {
  return ofPart(cases, of, commits());
}

/** The same in a file of `inTurn`, which CI does not run for each commit: with each time that it does, others. */
export function ofThisTurn<Case>(cases: readonly Case[], of: number): readonly Case[] {
  return ofPart(cases, of, turns());
}

function ofPart<Case>(cases: readonly Case[], of: number, count: number): readonly Case[] {
  return triesAll ? cases : cases.filter((_, at) => at % of === count % of);
}

/** How often CI has run a file of `inTurn`. */
export function turns(): number {
  return Math.floor(commits() / inTurn.length);
}

let counted: number | undefined;

/** How many the branch has; zero where there is no repository. */
export function commits(): number {
  return (counted ??= count());
}

function count(): number {
  try {
    const cwd = import.meta.dirname;
    return Number(execFileSync("git", ["rev-list", "--count", "HEAD"], { cwd, stdio: ["ignore", "pipe", "ignore"] }));
  } catch {
    return 0;
  }
}

import { expect, test } from "vitest";
import { count } from "../../../../src/errors/migrate-error.ts";
import type { Output } from "../../../../src/cli/command/output.ts";
import { renderEvent } from "../../../../src/cli/render/events.ts";
import { renderDuration, renderTime } from "../../../../src/cli/render/times.ts";
import type { RunEvent } from "../../../../src/run/events.ts";

test.each([
  [0, "0 ms"],
  [0.4, "0 ms"],
  [12.6, "13 ms"],
  [999, "999 ms"],
  [1000, "1.0 s"],
  [1234, "1.2 s"],
  [89_900, "89.9 s"],
  [90_000, "1.5 min"],
  [3_600_000, "60.0 min"],
  [5_400_000, "1.5 h"],
])("%d milliseconds are said as %s", (milliseconds, words) => {
  expect(renderDuration(milliseconds)).toBe(words);
});

test("a time is in UTC, to the second", () => {
  expect(renderTime(Date.UTC(2026, 7, 1, 9, 5, 3, 987))).toBe("2026-08-01 09:05:03Z");
});

test.each([
  [0, "0 migrations"],
  [1, "1 migration"],
  [2, "2 migrations"],
])("%d are counted as %s", (number, words) => {
  expect(count(number, "migration")).toBe(words);
});

const name = { version: 3, name: "widen_ids" };
const place = { ...name, action: 1, total: 2 };

/** What is shown of an event, and how. */
function shown(event: RunEvent): readonly (readonly [how: string, line: string])[] {
  const lines: (readonly [string, string])[] = [];
  const output: Output = {
    json: false,
    verbose: false,
    live: false,
    columns: undefined,
    result: (line) => lines.push(["result", String(line)]),
    results: () => {},
    annotation: () => {},
    question: (text) => text,
    data: () => {},
    progress: (line) => lines.push(["progress", String(line)]),
    passing: (line) => lines.push(["passing", line]),
    problem: (line) => lines.push(["problem", String(line)]),
  };
  renderEvent(event, output);
  return lines;
}

test.each<{ event: RunEvent; line: string }>([
  {
    event: { event: "planned", direction: "up", migrations: [name], actions: 2, risks: [] },
    line: "1 migration pending, 2 actions",
  },
  { event: { event: "preparing", table: "docs", path: "embedding" }, line: "preparing docs.embedding" },
  {
    event: { event: "waiting", by: "ann", lease: 30_000 },
    line: "waiting for ann, which holds the lease; this run takes over after 30.0 s without a record of it",
  },
  {
    event: { event: "recognised", ...name, was: ["0002_widen_ids"] },
    line: "0003_widen_ids ran here as 0002_widen_ids: recorded",
  },
  {
    event: { event: "takenOver", by: "ann", isGone: true },
    line: "ann has ended without releasing its lease; taking over",
  },
  {
    event: { event: "takenOver", by: "ann" },
    line: "ann has written no record for the whole time of its lease; taking over",
  },
  { event: { event: "started", direction: "up", ...name, done: 0, total: 2 }, line: "0003_widen_ids" },
  {
    event: { event: "started", direction: "up", ...name, done: 1, total: 2 },
    line: "0003_widen_ids: 1 of 2 actions done already",
  },
  {
    event: { event: "group", migrations: [name, { version: 7, name: "names" }], calls: 3 },
    line: "0003_widen_ids to 0007_names, as a group: 3 calls",
  },
  {
    event: { event: "retried", ...place, text: "rename t.a to b", reason: "conflict", problem: "preempted" },
    line: "  rename t.a to b: another writer came first, trying again",
  },
  {
    event: { event: "hookFailed", problem: "the hook afterRun failed: no answer" },
    line: "note: the hook afterRun failed: no answer",
  },
  {
    event: { event: "outrun", table: "t", path: "a", tries: 25, elapsed: 40_000, text: "create index i on t.a" },
    line: "  t.a: writes of others have come first 25 times in 40.0 s (create index i on t.a), trying again; if this does not end, pause these writers, above all what optimizes the table",
  },
  {
    event: { event: "detour", ...place, text: "rename t.a to _lance_migrate_hidden_0" },
    line: "  other writers append without pause: rename t.a to _lance_migrate_hidden_0, temporarily",
  },
  {
    event: { event: "left", direction: "up", isTakenOver: false, ...name, applied: 1, done: 0, total: 1 },
    line: "1 migration applied, 0 of 1 action of 0003_widen_ids done; the next migrate up resumes it",
  },
  {
    event: { event: "left", direction: "up", isTakenOver: false, ...name, applied: 3, done: 1, total: 2 },
    line: "3 migrations applied, 1 of 2 actions of 0003_widen_ids done; the next migrate up resumes it",
  },
  {
    event: { event: "left", direction: "up", isTakenOver: true, ...name, applied: 0, done: 1, total: 2 },
    line: "0 migrations applied, 1 of 2 actions of 0003_widen_ids done by this run; see with migrate status what another run has done since",
  },
  {
    event: { event: "waiting", by: "ann", lease: 30_000, direction: "down" },
    line: "waiting for ann, which holds the lease; this run takes over after 30.0 s without a record of it, or refuses if a migration is half done then",
  },
  {
    event: { event: "planned", direction: "down", migrations: [name], actions: 2, risks: [] },
    line: "1 migration to roll back, 2 actions: 0003_widen_ids",
  },
  { event: { event: "started", direction: "down", ...name, done: 0, total: 2 }, line: "rolling back 0003_widen_ids" },
  {
    event: { event: "left", direction: "down", isTakenOver: false, ...name, applied: 1, done: 1, total: 2 },
    line: "1 migration rolled back, 1 of 2 actions that roll back 0003_widen_ids done; the next migrate down resumes it",
  },
  { event: { event: "done", ...place, text: "rename t.a to b", duration: 7 }, line: "  rename t.a to b (7 ms)" },
])("$event.event is told as progress: $line", ({ event, line }) => {
  expect(shown(event)).toEqual([["progress", line]]);
});

test("of the risks of a plan, those that lose values are told", () => {
  const risks = (["loss", "failure", "writers"] as const).map((kind) => ({ kind, text: `a ${kind}` }));
  expect(shown({ event: "planned", direction: "up", migrations: [name], actions: 2, risks })).toEqual([
    ["progress", "1 migration pending, 2 actions"],
    ["progress", "note: a loss"],
  ]);
});

test.each<RunEvent>([
  { event: "taking" },
  { event: "applied", ...name, duration: 7 },
  { event: "finished", applied: 1, duration: 7 },
])("$event is no line of progress", (event) => {
  expect(shown(event)).toEqual([]);
});

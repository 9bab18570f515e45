import { expect, test } from "vitest";
import type { Output } from "../../../../src/cli/command/output.ts";
import { showProgress } from "../../../../src/cli/render/progress.ts";
import type { RunEvent } from "../../../../src/run/events.ts";
import type { Clock } from "../../../../src/time/clock.ts";

const place = { version: 3, name: "widen_ids", total: 2 };
const action = (text: string, number = 1): RunEvent => ({ event: "action", ...place, action: number, text });
const done = (text: string, number = 1): RunEvent => ({ event: "done", ...place, action: number, text, duration: 7 });
const computed = (rows: number, total?: number): RunEvent => ({
  event: "computed",
  table: "t",
  path: "a",
  rows,
  total,
});

/** Shows events on a clock that stands still until it is moved on. Gives what is printed. */
function watched(live: boolean) {
  let now = 0;
  let tick: (() => void) | undefined;
  const clock: Clock = {
    wall: () => Date.UTC(2026, 0, 1) + now,
    steady: () => now,
    random: () => 0,
    sleep: async () => {},
    every(_, work) {
      tick = work;
      return () => (tick = undefined);
    },
  };
  let printed: string[] = [];
  const output: Output = {
    json: false,
    verbose: false,
    live,
    columns: undefined,
    result: () => {},
    results: () => {},
    annotation: () => {},
    question: (text) => text,
    data: () => {},
    progress: (line) => printed.push(String(line)),
    passing: (line, end = "") => live && printed.push(`${line}|${end}`),
    problem: () => {},
  };
  const progress = showProgress(output, clock);
  return {
    ...progress,
    /** What is printed in this time. */
    pass(milliseconds: number): readonly string[] {
      printed = [];
      for (const end = now + milliseconds; now < end;) {
        now += 500;
        tick?.();
      }
      return printed;
    },
    printed: () => printed,
  };
}

test("on a terminal, an action is shown with its time, which is the end of the line, until it is done", () => {
  const { see, pass, printed } = watched(true);
  see(action("create index a of t"));
  expect(printed()).toEqual(["  create index a of t| …"]);
  expect(pass(1_000)).toEqual(["  create index a of t|  500 ms", "  create index a of t|  1.0 s"]);
  see(done("create index a of t"));
  expect(pass(1_000)).toEqual([]);
});

test("of several actions, the one that runs longest is shown", () => {
  const { see, pass } = watched(true);
  see(action("one", 1));
  see(action("two", 2));
  expect(pass(500)).toEqual(["  one (and 1 more)|  500 ms"]);
  see(done("one", 1));
  expect(pass(500)).toEqual(["  two|  1.0 s"]);
});

test("rows are shown without a total if there are more than were counted, or none were counted", () => {
  const { see, pass } = watched(true);
  see(action("compute t.a"));
  see(computed(100));
  pass(10_000);
  see(computed(130));
  expect(pass(500)).toEqual(["  compute t.a|  10.5 s: 130 rows computed, 3.0/s"]);
  see(computed(140, 120));
  expect(pass(500)).toEqual(["  compute t.a|  11.0 s: 140 rows computed, 3.8/s"]);
});

test("without a terminal, a line with the time appears after 10 seconds, then less and less often", () => {
  const { see, pass } = watched(false);
  see(action("create index a of t"));
  expect(pass(9_500)).toEqual([]);
  const lines = pass(240_500);
  expect(lines[0]).toBe("2026-01-01 00:00:10Z  create index a of t: still running after 10.0 s");
  expect(lines.map((line) => line.slice(14, 19))).toEqual(["00:10", "00:20", "00:40", "01:20", "02:20", "03:20"]);
  see(computed(5, 10));
  expect(pass(9_500)).toEqual([]);
  expect(pass(500)[0]).toMatch(/: still running after 4\.3 min, 5 of 10 rows computed$/);
});

test("the phase of a column that is computed is shown, with the rows that this phase is done with", () => {
  const { see, pass } = watched(true);
  const column = { table: "t", path: "a" };
  see({ event: "preparing", ...column });
  see({ event: "phase", ...column, phase: "computing" });
  expect(pass(500)).toEqual(["  t.a|  500 ms"]);
  see(computed(100, 2_000));
  pass(2_000);
  see(computed(300, 2_000));
  expect(pass(500).at(-1)).toBe("  t.a|  3.0 s: 300 of 2,000 rows computed, 100/s, about 17.0 s left");
  see({ event: "phase", ...column, phase: "loading", total: 2_000 });
  pass(1_000);
  see({ event: "phase", ...column, phase: "loading", rows: 500, total: 2_000 });
  expect(pass(500).at(-1)).toBe("  t.a|  4.5 s: loading, 500 of 2,000 rows, 500/s, about 3.0 s left");
  see({ event: "phase", ...column, phase: "indexing" });
  expect(pass(500)).toEqual(["  t.a|  5.0 s: indexing"]);
});

test("what prepare computes is shown too, and nothing after the end", () => {
  const { see, pass, end } = watched(true);
  see({ event: "preparing", table: "t", path: "a" });
  see(computed(1, 2));
  expect(pass(500)).toEqual(["  t.a|  500 ms: 1 of 2 rows computed"]);
  end();
  expect(pass(5_000)).toEqual([]);
});

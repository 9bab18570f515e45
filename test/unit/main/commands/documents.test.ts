import { expect, test } from "vitest";
import type { z } from "zod";
import { commandNames } from "../../../../src/main/commands/registry.ts";
import { documents } from "../../../../src/main/commands/documents.ts";
import type { up } from "../../../../src/cli/json/apply.ts";
import type { runEvent } from "../../../../src/cli/json/events.ts";
import type { Printed } from "../../../../src/cli/json/shared.ts";
import type { RunEvent } from "../../../../src/run/events.ts";
import { checkJsonOutput } from "../../../support/json-output.ts";

test("what every command prints with --json is described", () => {
  expect([...commandNames, "error"].filter((name) => documents[name] === undefined)).toEqual([]);
});

test("the events that are described are those of a run, and all of them", () => {
  // The type checker compares them, in both directions.
  const printed = (event: RunEvent): Printed<typeof up> => event;
  const emitted = (name: z.output<typeof runEvent>["event"]): RunEvent["event"] => name;
  expect(printed({ event: emitted("taking") as "taking" })).toEqual({ event: "taking" });
});

const status = {
  target: "local",
  applied: [],
  reverting: [],
  begun: [],
  changed: [],
  pending: [],
  doubts: [],
  late: [],
  deferred: [],
  stale: [],
};
const ended = { event: "ended", database: "acme", duration: 1 };

test.each<{ readonly args: string; readonly printed: readonly object[] }>([
  { args: "status", printed: [status] },
  { args: "status", printed: [{ ...ended, ...status }] },
  {
    args: "up",
    printed: [
      { event: "taking", database: "acme" },
      { ...ended, applied: 1, total: 2 },
    ],
  },
  { args: "up", printed: [{ ...ended, code: "ERR_DRIFT", message: "…", exit: 4 }] },
  { args: "up --dry-run", printed: [{ target: "local", direction: "up", verdict: "nothing", pending: [] }] },
  { args: "frobnicate", printed: [{ event: "error", code: "ERR_USAGE", message: "…" }] },
])("tests accept $printed as what migrate $args prints", ({ args, printed }) => {
  checkJsonOutput([...args.split(" "), "--json"], linesOf(printed));
});

test.each<{ readonly args: string; readonly printed: readonly object[] }>([
  { args: "status", printed: [{ ...status, surplus: 1 }] },
  { args: "status", printed: [{ ...ended, ...status, surplus: 1 }] },
  { args: "status", printed: [status, { target: "local" }] },
  { args: "plan", printed: [{ target: "local", direction: "up", verdict: "nothing", pending: [], surplus: 1 }] },
  { args: "push", printed: [{ target: "local", direction: "up", later: [], others: [], dryRun: true, surplus: 1 }] },
  { args: "up", printed: [{ event: "taken" }] },
  { args: "up", printed: [{ event: "taking", surplus: 1 }] },
  { args: "up", printed: [{ ...ended, applied: 1, total: 2, surplus: 1 }] },
  { args: "frobnicate", printed: [{ event: "error", code: "ERR_USAGE", message: "…", details: {} }] },
])("tests refuse $printed as what migrate $args prints", ({ args, printed }) => {
  expect(() => checkJsonOutput([...args.split(" "), "--json"], linesOf(printed))).toThrow("src/cli/json");
});

function linesOf(printed: readonly object[]): string {
  return printed.map((one) => `${JSON.stringify(one)}\n`).join("");
}

import { expect, test } from "vitest";
import { exitCodeOf } from "../../../../src/cli/command/exit-code.ts";
import { MigrateError } from "../../../../src/errors/migrate-error.ts";

const place = { file: "0001_a.ts", step: 1 };

test.each([
  {
    error: new MigrateError("ERR_STEP_FAILED", {
      ...place,
      problem: "no",
      direction: "up",
      done: 0,
      total: 1,
      applied: 0,
    }),
    code: 1,
  },
  { error: new MigrateError("ERR_LEDGER_UNWRITABLE", { ledger: "l", problem: "no" }), code: 1 },
  { error: new MigrateError("ERR_USAGE", { problem: "no" }), code: 2 },
  { error: new MigrateError("ERR_CONFIG_MISSING", { file: "a" }), code: 2 },
  { error: new MigrateError("ERR_MIGRATION_CHANGED", { file: "a", change: "b" }), code: 4 },
  { error: new MigrateError("ERR_DRIFT", { table: "a", differences: [], hint: "b" }), code: 4 },
  { error: new MigrateError("ERR_LEASE_HELD", { by: "a" }), code: 5 },
  { error: new MigrateError("ERR_LEASE_LOST", { by: "a" }), code: 5 },
  { error: new MigrateError("ERR_TARGET_UNREACHABLE", { target: "a", problem: "b" }), code: 6 },
  { error: new MigrateError("ERR_INTERRUPTED", { done: "a" }), code: 130 },
])("$error.code ends the command with $code", ({ error, code }) => {
  expect(exitCodeOf(error)).toBe(code);
});

test.each([{ thrown: new Error("a bug") }, { thrown: undefined }, { thrown: { outcome: "usage", code: "ERR_USAGE" } }])(
  "what is none of our errors ends the command with 1 ($thrown)",
  ({ thrown }) => {
    expect(exitCodeOf(thrown)).toBe(1);
  },
);

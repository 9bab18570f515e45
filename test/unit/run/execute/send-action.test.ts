import { expect, test } from "vitest";
import { MigrateError } from "../../../../src/errors/migrate-error.ts";
import type { Lease } from "../../../../src/ledger/lease/lease.ts";
import type { LedgerEntry } from "../../../../src/ledger/state/record.ts";
import { sendAction } from "../../../../src/run/execute/send-action.ts";
import type { Action } from "../../../../src/actions/model/action.ts";
import { memoryTarget } from "../../../simulate/target/memory-target.ts";
import type { Model } from "../../../simulate/target/carry.ts";
import { memoryTables } from "../../../simulate/target/memory-tables.ts";
import type { CallOutcome } from "../../../../src/targets/contract/target.ts";
import { heldLease } from "../../../support/ledger.ts";

const drop: Action = { kind: "dropColumns", table: "t", paths: ["a"] };
const place = { version: 1, name: "t", action: 1, total: 2 };

/** A call that fails, and when it has, somebody else holds the lease. */
async function failing(
  model: Model,
  kind: CallOutcome["kind"],
  next?: number | null,
  cause = new Error("another runner holds the lease"),
) {
  const late: LedgerEntry[] = [];
  const lease: Lease = {
    ...heldLease,
    check: async () => await Promise.reject(cause),
    isSure: () => false,
    recordLate: async (entry) => void late.push(entry),
  };
  const target = {
    ...memoryTarget({ name: "memory", model, tables: memoryTables() }),
    execute: async () => await Promise.reject(new Error("it failed")),
    verdict: (): CallOutcome => ({ kind }),
  };
  const ended = sendAction(drop, undefined, { target, lease, place, next });
  let message = "";
  const error = await ended.then(
    ({ failure }) => failure?.kind,
    (error: MigrateError) => {
      ({ message } = error);
      return error.code;
    },
  );
  return { error, late, message };
}

test.each([
  ["embedded", "unanswered"],
  // The engine may have begun what it refuses.
  ["embedded", "refused"],
  ["namespace", "unanswered"],
  ["service", "unanswered"],
] as const)("a failed call that may have begun is recorded when it was late (%s, %s)", async (model, kind) => {
  const entry = { event: "late", next: 1, version: 1, name: "t", step: 1, total: 2 };
  expect(await failing(model, kind)).toMatchObject({ error: "ERR_ACTED_LATE", late: [entry] });
});

test.each([
  ["embedded", "conflict"],
  ["namespace", "refused"],
  ["service", "refused"],
] as const)("a failed call that can't have begun needs no lease (%s, %s)", async (model, kind) => {
  expect(await failing(model, kind)).toMatchObject({ error: kind, late: [] });
});

test("a target that can't be asked about the lease is named", async () => {
  const silence = new MigrateError("ERR_TARGET_UNREACHABLE", { target: "memory", problem: "no answer" });
  const { message } = await failing("embedded", "unanswered", undefined, silence);
  expect(message).toContain("before it resumed; target memory can't be reached: no answer; run the command again");
});

test("what a late call leaves in doubt is what its caller says, where that is not its own migration", async () => {
  expect((await failing("embedded", "unanswered", 7)).late).toMatchObject([{ version: 1, next: 7 }]);
  expect((await failing("embedded", "unanswered", null)).late).toMatchObject([{ version: 1, next: undefined }]);
});

test("a refused call is reported as refused, also if its table was recreated before it", async () => {
  let time = 0;
  const target = memoryTarget({ name: "memory", model: "embedded", tables: memoryTables({ now: () => time++ }) });
  const columns = ["a", "b"].map((name) => ({ name, type: { kind: "int32" }, nullable: true }) as const);
  const create: Action = { kind: "createTable", table: "t", columns };
  await target.execute(create, undefined);
  const seen = await target.describeTable("t");
  await target.execute({ kind: "dropTable", table: "t" }, seen);
  await target.execute(create, undefined);
  const refusing = {
    ...target,
    execute: async () => await Promise.reject(new Error("it failed")),
    verdict: (): CallOutcome => ({ kind: "refused" }),
  };
  const { failure } = await sendAction(drop, seen, { target: refusing, lease: heldLease, place });
  expect(failure).toMatchObject({ kind: "refused" });
});

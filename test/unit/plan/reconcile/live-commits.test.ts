import {
  btree,
  createIndex,
  createTable,
  dropIndex,
  dropTable,
  int32,
  int64,
  isMigrateError,
  largeUtf8,
  renameColumn,
  retypeColumn,
} from "lance-migrate";
import { expect, test } from "vitest";
import type { Step } from "lance-migrate";
import { foldLedger } from "../../../../src/ledger/state/fold.ts";
import type { LedgerRecord } from "../../../../src/ledger/state/record.ts";
import { stepHash } from "../../../../src/migrations/checksum.ts";
import { makePlan } from "../../../../src/plan/make-plan.ts";
import { planSeen } from "../../../../src/plan/reconcile/live-commits.ts";
import { reconcile } from "../../../../src/plan/reconcile/reconcile.ts";
import { actionKinds } from "../../../../src/actions/apply-action.ts";
import { columnsOf } from "../../../../src/schema/declare/type-builders.ts";
import type { Table } from "../../../../src/schema/table.ts";
import { aMigration } from "../../../support/migrations.ts";

const capabilities = {
  actions: Object.fromEntries(actionKinds.map((kind) => [kind, true as const])),
  describes: true,
  fences: true,
};

/** The commits of each pending step on a table with an index that an application has made on `id`. */
function commitsOf(...pending: readonly Step[]): readonly (readonly string[])[] {
  const columns = { id: int32().notNull(), other: int32() };
  const first = aMigration(1, [createTable("t", columns)]);
  const second = aMigration(2, pending);
  const who = { at: 0, by: "ann", run: "run", tool: "test", applied: "", previous: "" };
  const facts = { version: 1, name: "m1", step: 1, total: 1, attempt: 1, checksum: first.checksum, textHash: "" };
  const records: readonly LedgerRecord[] = [
    { ...who, epoch: 1, number: 0, event: "taken" },
    { ...who, ...facts, epoch: 1, number: 1, event: "applied", steps: first.steps.map(stepHash) },
  ];
  const state = foldLedger(records);
  const plan = makePlan({
    migrations: [first, second],
    pending: [second],
    state,
    inDoubt: state.inDoubt,
    target: { name: "local", capabilities },
    ledger: "_migrations",
  });
  const seen: Table = { columns: columnsOf(columns), indexes: { theirs: { path: "id", ...btree() } } };
  const sights = new Map([["t", seen]]);
  const { migrations } = planSeen(reconcile(plan, sights), sights, capabilities);
  return migrations.flatMap(({ actions }) => actions.map(({ commits }) => commits.map(({ text }) => text)));
}

test("an index that others have made is dropped and made again", () => {
  expect(commitsOf(retypeColumn("t", "id", int64()))).toEqual([
    ["drop index theirs of t", "retype t.id to int64", "create index theirs on t.id: btree"],
  ]);
});

test("also after its column was renamed, and not with a column that took the name", () => {
  expect(
    commitsOf(
      renameColumn("t", "id", "key"),
      renameColumn("t", "other", "id"),
      retypeColumn("t", "key", int64()),
      retypeColumn("t", "id", int64()),
    ).slice(2),
  ).toEqual([
    ["drop index theirs of t", "retype t.key to int64", "create index theirs on t.key: btree"],
    ["add t._lance_migrate_guard int8 not null as 1", "retype t.id to int64", "drop t._lance_migrate_guard"],
  ]);
});

test("a table that is recreated has none of the old one's", () => {
  expect(
    commitsOf(dropTable("t"), createTable("t", { id: int32().notNull() }), retypeColumn("t", "id", int64())),
  ).toEqual([["drop table t"], ["create table t (id int32 not null)"], ["retype t.id to int64"]]);
});

test("one that can't be on the new type stops the step, in words", () => {
  try {
    commitsOf(retypeColumn("t", "id", largeUtf8(), { using: "'x'" }));
    expect.unreachable();
  } catch (error) {
    expect(isMigrateError(error, "ERR_STEP_IMPOSSIBLE")).toBe(true);
    expect((error as Error).message).toMatch(/^0002_m2\.ts, step 1 .* index theirs of t can't be on id as largeUtf8/);
  }
});

test("an index that is not there can't be dropped, and one that was made meanwhile can", () => {
  expect(() => commitsOf(dropIndex("t", "nope"))).toThrow(
    "0002_m2.ts, step 1 (dropIndex): index nope of t is not there; there is theirs",
  );
  expect(() => commitsOf(dropIndex("t", "theirs"), dropIndex("t", "other_idx"))).toThrow("there are none");
  expect(commitsOf(createIndex("t", "other", btree()), dropIndex("t", "other_idx"))).toHaveLength(2);
});

import { createTable, dropColumn, int32, type Step } from "lance-migrate";
import { expect, test } from "vitest";
import { foldLedger } from "../../../../src/ledger/state/fold.ts";
import { recoveryOf, type Recovery } from "../../../../src/plan/assess/recovery.ts";
import { makePlan } from "../../../../src/plan/make-plan.ts";
import { aMigration } from "../../../simulate/history.ts";
import { abilitiesOf } from "../../../simulate/target/memory-target.ts";

const abilities = abilitiesOf("embedded");
const capabilities = { ...abilities, actions: { ...abilities.actions, restoreTable: true } } as const;

/** Of a run that applies these migrations after one that created t(a, b, c). */
function recovery(...migrations: readonly (readonly Step[])[]): Recovery | undefined {
  const before = aMigration(1, [createTable("t", { a: int32(), b: int32(), c: int32() })]);
  const all = [before, ...migrations.map((steps, index) => aMigration(index + 2, steps))];
  const target = { name: "local", capabilities };
  const input = { migrations: all, pending: all, state: foldLedger([]), doubtful: new Set<number>(), target };
  const plan = makePlan({ ...input, ledger: "_migrations" });
  return recoveryOf(plan.migrations.slice(1), { version: 1, name: "drawn" }, new Map());
}

test("a version of a table is restored once for all that a migration dropped from it", () => {
  const drops = [dropColumn("t", "a"), dropColumn("t", "b")];
  expect(recovery(drops)).toMatchObject({ to: { version: 1 }, actions: 1, stays: undefined });
  expect(recovery([dropColumn("t", "a")], [dropColumn("t", "b")])).toMatchObject({ actions: 2 });
});

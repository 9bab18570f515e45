import { expect, test } from "vitest";
import type { DocumentAction, DocumentMigration, PlanDocument } from "../../../../src/plan/document/plan-document.ts";
import { groupEnds, mayLoseData, summariesOf, verdictText } from "../../../../src/plan/document/plan-summary.ts";

const cost = { rows: 0, bytes: 0, added: 0, indexes: [], versions: 1 };
const change = { kind: "any", table: "t" };

/** An action that is rolled back as given: "CLASS TEXT"; what goes with its table has no actions. */
function anAction(back: string, reason?: string): DocumentAction {
  const [is, ...words] = back.split(" ");
  const text = words.join(" ");
  const actions = is === "restore" || is === "none" || text === "goes with the table" ? [] : [change];
  const rollback = { class: is as "exact", text, reason, actions, cost };
  return { step: 1, text: "change it", calls: [], cost, risks: [], action: change, rollback };
}

function aMigration(actions: readonly DocumentAction[], rest: Partial<DocumentMigration> = {}): DocumentMigration {
  const name = { version: 1, name: "m", file: "f.ts", checksum: "", steps: [] };
  return { ...name, done: 0, total: actions.length, actions: [...actions], ...rest };
}

const aPlan = (pending: DocumentMigration[], rest: Partial<PlanDocument> = {}): PlanDocument => ({
  target: "local",
  direction: "up",
  verdict: "ready",
  pending,
  totals: { migrations: 1, actions: 1, ...cost },
  ...rest,
});

const rollbackOf = (...actions: readonly DocumentAction[]) => summariesOf(aPlan([aMigration(actions)]))[0]!.rollback;

test("a migration is rolled back in the reverse order, with the weakest class of its parts", () => {
  expect(rollbackOf(anAction("exact drop a"), anAction("checked drop b", "refused if b holds values"))).toEqual({
    class: "checked",
    parts: [
      { text: "drop b", restores: false },
      { text: "drop a", restores: false },
    ],
    reason: "refused if b holds values",
    cost: { ...cost, versions: 2 },
  });
});

test("what goes with a table, or with its old version, is named once", () => {
  const gone = anAction("exact goes with the table");
  expect(rollbackOf(anAction("exact drop table t"), gone)?.parts).toEqual([{ text: "drop table t", restores: false }]);
  expect(rollbackOf(gone)?.parts).toEqual([{ text: "goes with the table", restores: false }]);
  const restores = [anAction("restore restore t", "t.a is dropped"), anAction("restore restore t")];
  expect(rollbackOf(...restores)).toMatchObject({
    class: "restore",
    parts: [{ text: "restore t", restores: true }],
    reason: "refused if rows were written since",
    because: "t.a is dropped",
  });
});

test("one action that can't be rolled back is enough for the whole migration", () => {
  expect(rollbackOf(anAction("exact drop a"), anAction("none", "rows are gone"))).toMatchObject({
    class: "none",
    parts: [],
    reason: "rows are gone",
  });
});

test("what the file exports is its rollback, and a rollback has none", () => {
  const written = aMigration([], { down: ["drop t.b", "drop t.a"] });
  expect(summariesOf(aPlan([written]))[0]!.rollback).toMatchObject({
    class: "written",
    parts: [{ text: "drop t.b" }, { text: "drop t.a" }],
  });
  expect(rollbackOf({ ...anAction("exact"), rollback: undefined })).toBeUndefined();
});

test("a migration has the cost of its actions, unless a group runs it or nothing was asked", () => {
  const one = aMigration([anAction("exact"), anAction("exact")]);
  const group = { versions: [1, 2, 3], done: 0, total: 1, actions: [] };
  const others = [2, 3, 4].map((version) => ({ ...one, version }));
  expect(summariesOf(aPlan([one]))[0]!.cost).toEqual({ ...cost, versions: 2 });
  expect(summariesOf(aPlan([one], { totals: undefined }))[0]!.cost).toBeUndefined();
  const grouped = aPlan([one, ...others], { groups: [group] });
  expect(summariesOf(grouped).map((summary) => [summary.group, summary.cost?.versions])).toEqual([
    [group, undefined],
    [group, undefined],
    [group, undefined],
    [undefined, 2],
  ]);
  expect(groupEnds(group, grouped).map(({ version }) => version)).toEqual([1, 3]);
});

test("a verdict counts the migrations that deserve a look", () => {
  const loss = { kind: "loss", text: "t.a is dropped", rows: 0 } as const;
  const refusal = { reason: "failure", problem: "a null" } as const;
  const migrations = [
    aMigration([{ ...anAction("exact"), risks: [loss], refusal }]),
    aMigration([{ ...anAction("exact"), risks: [{ ...loss, rows: 1 }] }], { unfinished: true }),
    aMigration([{ ...anAction("none"), risks: [{ ...loss, rows: undefined }] }]),
  ];
  const summaries = summariesOf(aPlan(migrations));
  expect(summaries.map(mayLoseData)).toEqual([false, true, true]);
  expect(verdictText("refused", summaries)).toBe("refused (1 unfinished, 2 may lose data, 1 can't be rolled back)");
  expect(verdictText("consent", summaries.slice(1, 2))).toBe("needs consent (1 unfinished, 1 may lose data)");
  expect(verdictText(undefined, summaries.slice(1, 2))).toBe("1 unfinished, 1 may lose data");
  expect(verdictText("ready", [])).toBe("ready");
});

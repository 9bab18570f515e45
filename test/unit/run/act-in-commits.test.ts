import { expect, test } from "vitest";
import { systemClock } from "../../../src/clock.ts";
import { planCommits } from "../../../src/plan/commits.ts";
import { actInCommits } from "../../../src/run/act-in-commits.ts";
import type { Action } from "../../../src/schema/action.ts";
import { memoryTarget } from "../../../src/targets/memory/memory.ts";
import { memoryTables } from "../../../src/targets/memory/tables.ts";

test("who goes on with an action of several commits notes how far it got, not how far it was found", async () => {
  const tables = memoryTables();
  const target = memoryTarget({ name: "memory", model: "embedded", tables });
  const action: Action = { kind: "convertColumn", table: "t", path: "a", type: { kind: "utf8" }, using: "upper(a)" };
  tables.create("t", [{ name: "a", type: { kind: "utf8" }, nullable: true, metadata: { source: "form" } }]);
  const before = new Map([["t", tables.get("t")]]);
  const commits = planCommits(action, before, target.capabilities);
  // Killed after the first commit, by when this had been noted.
  tables.carryOut(commits[0]!.action);
  const midway = { commit: 0, indexes: {}, metadata: { a: { source: "form" } } };
  const noted: number[] = [];
  const ending = await actInCommits(
    {
      place: { file: "0001_t.ts", step: 1, kind: "retypeColumn" },
      action,
      text: "",
      risks: [],
      commits,
      before,
      after: commits.at(-1)!.after,
      recordFirst: false,
      proof: undefined,
    },
    true,
    {
      target,
      clock: systemClock,
      emit: () => {},
      place: { version: 1, name: "t", action: 1, total: 1 },
      lease: {
        record: async () => {},
        check: async () => {},
        isSure: () => true,
        recordLate: async () => {},
        release: async () => {},
        abandon: () => {},
      },
      midway,
      note: async ({ commit }) => void noted.push(commit),
    },
  );
  expect(ending).not.toHaveProperty("error");
  expect(tables.get("t")!.columns).toEqual(before.get("t")!.columns);
  // Both lead back to how the table was: a look could not tell that they are done.
  expect(noted).toEqual([2, 3]);
});

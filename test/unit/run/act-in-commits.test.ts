import { expect, test } from "vitest";
import { systemClock } from "../../../src/clock.ts";
import { MigrateError } from "../../../src/errors.ts";
import type { Kept } from "../../../src/ledger/record.ts";
import { planCommits } from "../../../src/plan/commits.ts";
import type { PlannedAction } from "../../../src/plan/plan.ts";
import type { Emit } from "../../../src/run/events.ts";
import { actInCommits, type Noting } from "../../../src/run/act-in-commits.ts";
import type { Action } from "../../../src/schema/action.ts";
import { guardColumn } from "../../../src/schema/actions/guard.ts";
import type { Column } from "../../../src/schema/data-type.ts";
import { btree } from "../../../src/schema/index-builders.ts";
import { memoryTarget } from "../../../src/targets/memory/memory.ts";
import { memoryTables } from "../../../src/targets/memory/tables.ts";
import type { Target } from "../../../src/targets/target.ts";

const action: Action = { kind: "convertColumn", table: "t", path: "a", type: { kind: "utf8" }, using: "upper(a)" };

interface About extends Noting, Pick<PlannedAction, "action" | "before" | "commits"> {
  readonly target: Target;
  readonly emit?: Emit;
}

async function acting({ action, before, commits, ...about }: About) {
  const place = { file: "0001_t.ts", step: 1, kind: action.kind };
  const after = commits.at(-1)!.after;
  return await actInCommits(
    { place, action, text: "", risks: [], commits, before, after, recordFirst: false, proof: undefined },
    about.midway !== undefined,
    {
      ...about,
      clock: systemClock,
      pending: [],
      emit: about.emit ?? (() => {}),
      place: { version: 1, name: "t", action: 1, total: 1 },
      lease: {
        record: async () => {},
        check: async () => {},
        isSure: () => true,
        recordLate: async () => {},
        release: async () => {},
        abandon: () => {},
      },
    },
  );
}

/** A table with a column `a`, of which somebody had noted this when he was killed. */
function aTable(noted: Kept, metadata?: Column["metadata"]) {
  const tables = memoryTables();
  const target = memoryTarget({ name: "memory", model: "embedded", tables });
  tables.create("t", [{ name: "a", type: { kind: "utf8" }, nullable: true, ...(metadata && { metadata }) }]);
  const before = new Map([["t", tables.get("t")]]);
  const commits = planCommits(action, before, target.capabilities);
  const notes: { readonly kept: Kept; readonly commit: number }[] = [];
  const goOn = async () =>
    await acting({
      target,
      action,
      before,
      commits,
      midway: { step: "", commit: 0, ...noted },
      note: async (kept, commit) => void notes.push({ kept, commit }),
    });
  return { tables, commits, notes, goOn };
}

test("who goes on with an action of several commits notes how far it got, not how far it was found", async () => {
  const metadata = { source: "form" };
  const { tables, commits, notes, goOn } = aTable({ indexes: {}, metadata: { a: metadata } }, metadata);
  const before = tables.get("t");
  // Killed after the first commit.
  tables.carryOut(commits[0]!.action);
  expect(await goOn()).not.toHaveProperty("error");
  expect(tables.get("t")!.columns).toEqual(before!.columns);
  // It leads back to how the table was: a look could not tell that it is done.
  expect(notes.map(({ commit }) => commit)).toEqual([2]);
});

test("what others made before its first commit is kept as well", async () => {
  const { tables, notes, goOn } = aTable({ indexes: {}, metadata: {} });
  const index = { path: "a", ...btree() };
  tables.carryOut({ kind: "createIndex", table: "t", name: "theirs", index });
  expect(await goOn()).not.toHaveProperty("error");
  expect(tables.get("t")!.indexes).toEqual({ theirs: index });
  expect(notes[0]).toEqual({ kept: { indexes: { theirs: index }, metadata: {} }, commit: 0 });
});

test("before the way around others' appends it is noted that the action has begun", async () => {
  const tables = memoryTables();
  const memory = memoryTarget({ name: "memory", model: "embedded", tables });
  tables.create("t", [{ name: "a", type: { kind: "int32" }, nullable: false }]);
  const isRetype = (one: Action) =>
    one.kind === "alterColumns" && one.alterations.some(({ type }) => type !== undefined);
  const action: Action = { kind: "alterColumns", table: "t", alterations: [{ path: "a", type: { kind: "int64" } }] };
  const before = new Map([["t", tables.get("t")]]);
  const told: string[] = [];
  const target: typeof memory = {
    ...memory,
    async execute(one, seen) {
      told.push(one.kind);
      // Others' appends come first until the guard is there.
      const isGuarded = tables.get("t")!.columns.some(({ name }) => name === guardColumn.name);
      if (isRetype(one) && !isGuarded)
        throw new MigrateError("ERR_ANSWER", { target: "t", request: "", status: 409, problem: "", conflict: true });
      return await memory.execute(one, seen);
    },
    verdict: () => ({ kind: "conflict" }),
  };
  const commits = planCommits(action, before, target.capabilities);
  const ending = await acting({
    target,
    action,
    before,
    commits,
    midway: undefined,
    note: async (_, commit) => void told.push(`note ${commit}`),
    emit: (event) => {
      if (event.event === "detour") told.push(event.text);
    },
  });
  expect(ending).not.toHaveProperty("error");
  expect(told.slice(0, 7)).toEqual([
    ...Array.from({ length: 5 }, () => "alterColumns"),
    "note 0",
    "rename t.a to _lance_migrate_hidden_0",
  ]);
});

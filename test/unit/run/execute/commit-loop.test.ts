import { expect, test } from "vitest";
import { systemClock } from "../../../../src/time/clock.ts";
import { MigrateError } from "../../../../src/errors/migrate-error.ts";
import type { Preserved } from "../../../../src/ledger/state/record.ts";
import { planCommits } from "../../../../src/plan/commits/commits.ts";
import type { PlannedAction } from "../../../../src/plan/make-plan.ts";
import type { Emit } from "../../../../src/run/events.ts";
import { executeInCommits, mayTakeCommits, type PartialNotes } from "../../../../src/run/execute/commit-loop.ts";
import type { Action } from "../../../../src/actions/model/action.ts";
import { guardColumn } from "../../../../src/actions/rewrite/append-guard.ts";
import type { Column } from "../../../../src/schema/data-type.ts";
import { bitmap, btree } from "../../../../src/schema/declare/index-builders.ts";
import { memoryTarget } from "../../../simulate/target/memory-target.ts";
import { memoryTables } from "../../../simulate/target/memory-tables.ts";
import type { Target } from "../../../../src/targets/contract/target.ts";
import { heldLease } from "../../../support/ledger.ts";

const action: Action = { kind: "convertColumn", table: "t", path: "a", type: { kind: "utf8" }, using: "upper(a)" };

interface About extends PartialNotes, Pick<PlannedAction, "action" | "before" | "commits"> {
  readonly target: Target;
  readonly emit?: Emit;
}

async function acting({ action, before, commits, ...about }: About) {
  const place = { file: "0001_t.ts", step: 1, kind: action.kind };
  const after = commits.at(-1)!.after;
  return await executeInCommits(
    { place, action, text: "", risks: [], commits, before, after, recordFirst: false, proof: undefined },
    about.midway !== undefined,
    {
      ...about,
      clock: systemClock,
      pending: [],
      emit: about.emit ?? (() => {}),
      place: { version: 1, name: "t", action: 1, total: 1 },
      lease: heldLease,
    },
  );
}

/** A table with a column `a`, of which somebody had noted this when he was killed. */
function aTable(noted: Preserved, metadata?: Column["metadata"]) {
  const tables = memoryTables();
  const target = memoryTarget({ name: "memory", model: "embedded", tables });
  tables.create("t", [{ name: "a", type: { kind: "utf8" }, nullable: true, ...(metadata && { metadata }) }]);
  const before = new Map([["t", tables.get("t")]]);
  const commits = planCommits(action, before, target.capabilities);
  const notes: { readonly kept: Preserved; readonly commit: number }[] = [];
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

test("who goes on with an action of several commits notes what it was left, and then how far it got", async () => {
  const metadata = { source: "form" };
  const { tables, commits, notes, goOn } = aTable({ indexes: {}, metadata: { a: metadata } }, metadata);
  const before = tables.get("t");
  // Killed after the first commit.
  tables.carryOut(commits[0]!.action);
  expect(await goOn()).not.toHaveProperty("error");
  expect(tables.get("t")!.columns).toEqual(before!.columns);
  // First so that a late record of the run that was killed erases nothing. The third commit leads back to how the table was:
  // a look could not tell that it is done.
  expect(notes).toEqual([
    { kept: expect.objectContaining({ metadata: { a: metadata } }), commit: 0 },
    { kept: expect.objectContaining({ metadata: { a: metadata } }), commit: 2 },
  ]);
});

test("what others made before its first commit is kept as well", async () => {
  const { tables, notes, goOn } = aTable({ indexes: {}, metadata: {} });
  const index = { path: "a", ...btree() };
  tables.carryOut({ kind: "createIndex", table: "t", name: "theirs", index });
  expect(await goOn()).not.toHaveProperty("error");
  expect(tables.get("t")!.indexes).toEqual({ theirs: index });
  expect(notes[0]).toEqual({ kept: { indexes: { theirs: index }, metadata: {} }, commit: 0 });
});

test.each([
  { what: "metadata", kind: "setMetadata" as const, theirs: { metadata: { source: "theirs" } } },
  { what: "an index", kind: "createIndex" as const, theirs: { index: bitmap() } },
])("$what that others make while what was lost is put back stays as it is", async ({ kind, theirs }) => {
  const tables = memoryTables();
  const memory = memoryTarget({ name: "memory", model: "embedded", tables });
  tables.create("t", [{ name: "a", type: { kind: "utf8" }, nullable: true, metadata: { source: "form" } }]);
  tables.carryOut({ kind: "createIndex", table: "t", name: "own", index: { path: "a", ...btree() } });
  const before = new Map([["t", tables.get("t")]]);
  let isFirst = true;
  const target: typeof memory = {
    ...memory,
    async execute(one, seen) {
      if (one.kind === kind && isFirst) {
        isFirst = false;
        if ("metadata" in theirs)
          tables.write("t", "metadata", { columns: [{ ...tables.get("t")!.columns[0]!, ...theirs }] });
        else tables.carryOut({ kind: "createIndex", table: "t", name: "own", index: { path: "a", ...theirs.index } });
        throw new MigrateError("ERR_ANSWER", { target: "t", request: "", status: 409, problem: "", conflict: true });
      }
      return await memory.execute(one, seen);
    },
  };
  const commits = planCommits(action, before, target.capabilities);
  const ending = await acting({ target, action, before, commits, midway: undefined, note: async () => {} });
  expect(ending).not.toHaveProperty("error");
  const { columns, indexes } = tables.get("t")!;
  const kept = { metadata: { source: "form" }, index: btree(), ...theirs };
  expect(columns[0]!.metadata).toEqual(kept.metadata);
  expect(indexes).toEqual({ own: { path: "a", ...kept.index } });
});

test("an index that others make again after it was dropped is dropped once more, and is there at the end", async () => {
  const tables = memoryTables();
  const memory = memoryTarget({ name: "memory", model: "embedded", tables });
  tables.create("t", [{ name: "a", type: { kind: "int32" }, nullable: true }]);
  const create: Action = { kind: "createIndex", table: "t", name: "own", index: { path: "a", ...btree() } };
  tables.carryOut(create);
  const before = new Map([["t", tables.get("t")]]);
  const retype: Action = { kind: "alterColumns", table: "t", alterations: [{ path: "a", type: { kind: "int64" } }] };
  const told: string[] = [];
  const target: typeof memory = {
    ...memory,
    async execute(one, seen) {
      told.push(one.kind);
      const made = await memory.execute(one, seen);
      if (told.length === 2) tables.carryOut(create);
      return made;
    },
  };
  const commits = planCommits(retype, before, target.capabilities);
  const ending = await acting({ target, action: retype, before, commits, midway: undefined, note: async () => {} });
  expect(ending).not.toHaveProperty("error");
  expect(told.filter((kind) => kind.endsWith("Index"))).toEqual(["dropIndex", "dropIndex", "createIndex"]);
  expect(tables.get("t")).toMatchObject({ columns: [{ type: { kind: "int64" } }], indexes: { own: { path: "a" } } });
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

test("metadata that others set after the look and before the values are dropped is kept as well", async () => {
  const tables = memoryTables();
  const memory = memoryTarget({ name: "memory", model: "embedded", tables });
  tables.create("t", [{ name: "a", type: { kind: "utf8" }, nullable: true }]);
  const before = new Map([["t", tables.get("t")]]);
  const commits = planCommits(action, before, memory.capabilities);
  // Killed after the first commit: the next one drops the old values.
  tables.carryOut(commits[0]!.action);
  const metadata = { source: "theirs" };
  let looks = 0;
  const target: typeof memory = {
    ...memory,
    async describeTable(name, withIndexes) {
      looks++;
      const withTheirs = (column: Column) => (column.name === "a" ? { ...column, metadata } : column);
      if (looks === 2) tables.write("t", "metadata", { columns: tables.get("t")!.columns.map(withTheirs) });
      return await memory.describeTable(name, withIndexes);
    },
  };
  const midway = { step: "", commit: 0, indexes: {}, metadata: {} };
  const ending = await acting({ target, action, before, commits, midway, note: async () => {} });
  expect(ending).not.toHaveProperty("error");
  expect(tables.get("t")!.columns).toEqual([{ name: "a", type: { kind: "utf8" }, nullable: true, metadata }]);
});

test.each([
  { refused: "dropColumns", undo: "refused", ends: { inDoubt: true } },
  { refused: "dropColumns", undo: "carried out", ends: { inDoubt: false } },
])("where a commit is refused, what came before it is undone, and otherwise stays in doubt: $undo", async (given) => {
  const tables = memoryTables();
  const memory = memoryTarget({ name: "memory", model: "embedded", tables });
  tables.create("t", [{ name: "a", type: { kind: "utf8" }, nullable: true }]);
  const before = new Map([["t", tables.get("t")]]);
  let refusals = 0;
  const target: typeof memory = {
    ...memory,
    async execute(one, seen) {
      if (one.kind === given.refused && (refusals === 0 || given.undo === "refused")) {
        refusals++;
        throw new MigrateError("ERR_ANSWER", { target: "t", request: "", status: 400, problem: "no" });
      }
      return await memory.execute(one, seen);
    },
  };
  const commits = planCommits(action, before, target.capabilities);
  const ending = await acting({ target, action, before, commits, midway: undefined, note: async () => {} });
  expect(ending).toMatchObject({ error: expect.anything(), ...given.ends });
  const names = tables.get("t")!.columns.map(({ name }) => name);
  expect(names).toEqual(given.undo === "refused" ? expect.arrayContaining(["a", guardColumn.name]) : ["a"]);
});

test("several commits are those of an action that is planned so, or that rewrites a column, which may get an index", () => {
  const planned = (one: Action, count: number) =>
    mayTakeCommits({ action: one, commits: Array.from({ length: count }) } as unknown as PlannedAction);
  const retype: Action = { kind: "alterColumns", table: "t", alterations: [{ path: "a", type: { kind: "int64" } }] };
  const rename: Action = { kind: "alterColumns", table: "t", alterations: [{ path: "a", rename: "b" }] };
  expect([planned(retype, 1), planned(rename, 2), planned(rename, 1)]).toEqual([true, true, false]);
});

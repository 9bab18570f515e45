import { expect, test } from "vitest";
import type { Action } from "../../../../src/actions/model/action.ts";
import type { Blocker } from "../../../../src/actions/model/inverse.ts";
import type { PlannedAction, PlannedMigration } from "../../../../src/plan/make-plan.ts";
import type { ActionContext, ActionResult, Done } from "../../../../src/run/execute/send-action.ts";
import { executeGuarded, writeGuard, type WriteGuard } from "../../../../src/run/execute/write-guard.ts";
import { columnsOf, int32 } from "../../../../src/schema/declare/type-builders.ts";
import { open } from "../../../../src/targets/lance/lance.ts";
import type { Target } from "../../../../src/targets/contract/target.ts";
import type { Since } from "../../../../src/targets/contract/versions.ts";
import { temporaryFolder } from "../../../support/project.ts";
import { lancedb } from "../../../support/tables.ts";

const drop: Action = { kind: "dropColumns", table: "t", paths: ["n"] };
const columns = columnsOf({ id: int32(), n: int32() });
const restore: Action = { kind: "restoreTable", table: "t", version: 2, after: 3, as: { columns }, isSilent: false };
const putBack = {
  kind: "putBackRows",
  table: "t",
  version: 2,
  after: 3,
  since: 3,
  writes: false,
  columns: {},
} as const;

function planAction(action: Action): PlannedAction {
  const place = { file: "0002_x.ts", step: 1, kind: action.kind };
  const [before, after] = [columns, columns.slice(0, 1)].map((all) => new Map([["t", { columns: all }]]));
  return { action, place, before, after } as unknown as PlannedAction;
}

/** A rollback of these actions. The blockers are about the first one. */
function planBack(actions: readonly Action[], found: readonly Blocker[], more: Partial<PlannedMigration> = {}) {
  const planned = actions.map(planAction);
  const blockers = found.map((blocker) => ({ place: planned[0]!.place, blocker, at: 0 }));
  const known = {
    migration: { version: 1 },
    direction: "down",
    actions: planned,
    blockers,
    done: 0,
    tables: {},
    inDoubt: false,
  };
  return { ...known, ...more } as unknown as PlannedMigration;
}

const values: Blocker = { kind: "values", table: "t", path: "n" };
const dropping = planBack([drop], [values]);

/** A table whose column the rollback drops, at version 2; and how often its rows were counted. */
async function aTable() {
  const folder = temporaryFolder();
  const target = await open({ kind: "lance", uri: folder }, { name: "test", folder });
  await target.execute({ kind: "createTable", table: "t", columns }, undefined);
  const table = async () => await (await lancedb.connect(folder)).openTable("t");
  await (await table()).add([{ id: 1 }]);
  let counted = 0;
  const countRows: Target["countRows"] = async (...asked) => {
    counted++;
    return await target.countRows!(...asked);
  };
  /** Adds a row; gives the version that this makes. */
  const write = async (row: Record<string, unknown>) => {
    const handle = await table();
    await handle.add([row]);
    return await handle.version();
  };
  return { target: { ...target, countRows }, write, counts: () => counted };
}

const askIn = async (guard: WriteGuard, planned = dropping) => await guard.before(planned, planned.actions[0]!, 0);
const stopped = { code: "ERR_ROLLBACK_STOPPED" };
const rename = planAction({ kind: "alterColumns", table: "t", alterations: [{ path: "id", rename: "key" }] });
const at = (version: number) => ({ version, at: undefined });

test("of an action that destroys nothing the table is not even described", async () => {
  expect(await askIn(writeGuard({} as Target, { t: 2 }), planBack([drop], []))).toBeUndefined();
});

test("rows are counted again once the table has a version of others, and for each action from then on", async () => {
  const { target, write, counts } = await aTable();
  const guard = writeGuard(target, { t: 2 });
  expect(await askIn(guard)).toMatchObject({ version: 2 });
  expect(counts()).toBe(0);
  expect(await write({ id: 2 })).toBe(3);
  expect(await askIn(guard)).toMatchObject({ version: 3 });
  expect(counts()).toBe(1);
  // The next action may destroy something else.
  expect(await askIn(guard)).toMatchObject({ version: 3 });
  expect(counts()).toBe(2);
  await write({ id: 3, n: 42 });
  await expect(askIn(guard)).rejects.toMatchObject(stopped);
  await target.close();
});

test("rows are counted again if the plan has not seen the version", async () => {
  const { target, write } = await aTable();
  await write({ id: 2, n: 42 });
  await expect(askIn(writeGuard(target, {}))).rejects.toMatchObject(stopped);
  await expect(askIn(writeGuard(target, { t: null }))).rejects.toMatchObject(stopped);
  await target.close();
});

test("rows are counted each time where the target reports no versions", async () => {
  const { target, write } = await aTable();
  const describeTable: Target["describeTable"] = async (...asked) => {
    const snapshot = await target.describeTable(...asked);
    return snapshot && { ...snapshot, version: undefined };
  };
  const guard = writeGuard({ ...target, describeTable }, {});
  expect(await askIn(guard)).toMatchObject({ version: undefined });
  await write({ id: 2, n: 42 });
  await expect(askIn(guard)).rejects.toMatchObject(stopped);
  await target.close();
});

test("an action is stopped if the rows that it would destroy can't be counted, unless the target refuses it for them", async () => {
  const { target } = await aTable();
  const countRows = async () => await Promise.reject(new Error("no count"));
  const guard = writeGuard({ ...target, countRows }, {});
  await expect(askIn(guard)).rejects.toThrow("values of t.n can't be looked for here");
  const refused = planBack([drop], [{ kind: "null", table: "t", path: "n" }]);
  expect(await askIn(guard, refused)).toMatchObject({ version: 2 });
  await target.close();
});

test.each([
  ["one commit", {}, 3],
  ["several commits", { commits: 2 }, 4],
  ["nothing", {}, 2],
])("nothing is counted again after an action of this run that made %s", async (_, more, after) => {
  const { target, write, counts } = await aTable();
  const guard = writeGuard(target, { t: 2 });
  while (((await target.describeTable("t"))?.version ?? 0) < after) await write({ id: 2, n: 42 });
  await guard.after(undefined, rename, { versionBefore: at(2), versionAfter: at(after), ...more });
  expect(await askIn(guard)).toMatchObject({ version: after });
  expect(counts()).toBe(0);
  await target.close();
});

test.each([
  ["before", 3, 4],
  ["during", 2, 4],
])(
  "rows are counted again if others wrote %s an action of this run that destroys nothing",
  async (_, before, after) => {
    const { target, write } = await aTable();
    const guard = writeGuard(target, { t: 2 });
    while (((await target.describeTable("t"))?.version ?? 0) < after) await write({ id: 2, n: 42 });
    await guard.after(undefined, rename, { versionBefore: at(before), versionAfter: at(after) });
    await expect(askIn(guard)).rejects.toMatchObject(stopped);
    await target.close();
  },
);

test("after a restore it is not asked which version it replaced", async () => {
  const guard = writeGuard({} as Target, { t: 2 });
  const ending = { versionBefore: at(2), versionAfter: at(5) };
  await expect(guard.after({ version: 2, rows: [] }, planAction(restore), ending)).resolves.toBeUndefined();
});

test("values that others write right before their column is dropped are lost, and the version that has them is named", async () => {
  const { target, write } = await aTable();
  const guard = writeGuard(target, { t: 2 });
  const watch = await askIn(guard);
  const seen = await write({ id: 2, n: 42 });
  await target.execute(drop, await target.describeTable("t"));
  const lost = async (harm?: string) =>
    await guard.after(watch, dropping.actions[0]!, {
      versionBefore: at(seen),
      versionAfter: at(seen + 1),
      harm,
    } as Done);
  const problem = "1 row of t.n has a value, which the rollback drops";
  const details = { table: "t", version: seen, problems: [problem] };
  await expect(lost()).rejects.toMatchObject({ code: "ERR_WRITES_LOST", details });
  await expect(lost("metadata of t was lost")).rejects.toMatchObject({
    details: { problems: [problem, "metadata of t was lost"] },
  });
  await target.close();
});

const since: Blocker = { kind: "since", table: "t", version: 3, writes: false, leaves: [] };
const puttingBack = planBack([restore, putBack], [since]);
const losing = planBack([restore, { ...putBack, leaves: ["n"] }], [since]);
const unable = planBack([restore, { ...putBack, columns: undefined }], [since]);
const restoring = planBack([restore], [since]);
const nothing: Since = { added: 0, changed: 0, removed: 0 };

test.each<[string, PlannedMigration, Since | undefined, string | undefined]>([
  ["nothing was written", restoring, nothing, undefined],
  ["rows were added and are reinserted", puttingBack, { ...nothing, added: 1 }, undefined],
  ["rows were added and lose values", losing, { ...nothing, added: 1 }, "written"],
  ["rows were added and can't be reinserted", unable, { ...nothing, added: 1 }, "written"],
  ["rows were added and are not reinserted", restoring, { ...nothing, added: 1 }, "written"],
  ["rows were changed", puttingBack, { ...nothing, changed: 1 }, "changed or removed"],
  ["rows were removed", puttingBack, { ...nothing, removed: 1 }, "changed or removed"],
  ["it is unknown", puttingBack, undefined, "unknown"],
])("whether a restore is stopped after others have written: %s", async (_, planned, found, words) => {
  const { target } = await aTable();
  const asked: number[] = [];
  const versions = {
    ...target.versions!,
    since: async (_: string, version: number) => {
      asked.push(version);
      return found;
    },
  };
  const ends = askIn(writeGuard({ ...target, versions }, { t: 1 }), planned);
  if (words === undefined) await expect(ends).resolves.toMatchObject({ version: 2 });
  else await expect(ends).rejects.toThrow(words);
  // What came before the plan has seen the table was agreed to.
  expect(asked).toEqual([1]);
  await target.close();
});

// Comparing versions reads the row ids of the whole table.
test("versions are compared only for a restore, and only those between which others wrote", async () => {
  const { target, write } = await aTable();
  const asked: unknown[] = [];
  const versions = {
    ...target.versions!,
    since: async (_: string, version: number, scope?: object) => {
      asked.push([version, scope]);
      return nothing;
    },
  };
  const guard = writeGuard({ ...target, versions }, { t: 2 });
  await write({ id: 2 });
  await askIn(guard);
  await askIn(guard);
  expect(asked).toEqual([]);
  // Version 4 is of this run.
  await write({ id: 3 });
  await guard.after(undefined, rename, { versionBefore: at(3), versionAfter: at(4) });
  await write({ id: 4 });
  await askIn(guard, puttingBack);
  expect(asked).toEqual([
    [2, { until: 3 }],
    [4, { until: 5 }],
  ]);
  await target.close();
});

test("what was written since the migration is asked if the plan has not seen the version", async () => {
  const { target } = await aTable();
  const asked: number[] = [];
  const versions = {
    ...target.versions!,
    since: async (_: string, version: number) => {
      asked.push(version);
      return nothing;
    },
  };
  await askIn(writeGuard({ ...target, versions }, {}), puttingBack);
  expect(asked).toEqual([3]);
  await target.close();
});

test("a restore is stopped if neither the plan nor the migration knows a version to compare with", async () => {
  const { target } = await aTable();
  const unknown = planBack([restore, putBack], [{ ...since, version: undefined }]);
  const versions = { ...target.versions!, since: async () => nothing };
  await expect(askIn(writeGuard({ ...target, versions }, {}), unknown)).rejects.toThrow(
    "it is unknown what was written",
  );
  await target.close();
});

/** Runs the action, whose ending is the same each time that it is not sent. */
async function guarded(planned: PlannedMigration, unsent: ActionResult, guard?: Partial<WriteGuard>, at = 0) {
  const runs: string[] = [];
  const run = async (mayAct: ActionContext["mayAct"], inDoubt: boolean): Promise<ActionResult> => {
    const may = mayAct === undefined ? "sent" : mayAct(new Map(), 3) === false ? "unsent" : "allowed";
    runs.push(inDoubt ? `${may} in doubt` : may);
    return may === "unsent" ? unsent : { versionBefore: at3, versionAfter: at3 };
  };
  const at3 = { version: 3, at: undefined };
  const before = async () => ({ version: 2, rows: [] });
  const ending = await executeGuarded(run, planned, planned.actions[0]!, at, {
    before,
    after: async () => {},
    ...guard,
  });
  return { runs, ending };
}

const unsent = { error: new Error("unsent"), inDoubt: false, isUnsent: true };

test("after the last check a column is dropped also if others have written again, since its version still shows what was lost", async () => {
  const { runs, ending } = await guarded(dropping, unsent);
  expect(runs).toEqual(["unsent", "unsent", "unsent", "unsent", "sent"]);
  expect(ending).not.toHaveProperty("error");
});

test("a table is not dropped if others have written after each check", async () => {
  const { runs, ending } = await guarded(planBack([{ kind: "dropTable", table: "t" }], [values]), unsent);
  expect(runs).toEqual(["unsent", "unsent", "unsent", "unsent", "unsent"]);
  expect(ending).toMatchObject({ error: stopped, inDoubt: false });
  expect(String((ending as { error: unknown }).error)).toContain("others wrote to t after each of 5 checks");
});

test("an action that may have been done already stays in doubt while it is checked again", async () => {
  const inDoubt = { ...unsent, inDoubt: true };
  const { runs } = await guarded(dropping, inDoubt);
  expect(runs).toEqual(["unsent", ...Array<string>(3).fill("unsent in doubt"), "sent in doubt"]);
  const { ending } = await guarded(planBack([{ kind: "dropTable", table: "t" }], [values]), inDoubt);
  expect(ending).toMatchObject({ error: stopped, inDoubt: true });
});

const refuse = async () => await Promise.reject(new Error("rows block it"));

test.each<[string, Partial<PlannedMigration>, number, boolean]>([
  ["no run was stopped", {}, 0, false],
  ["a run was stopped at it", { inDoubt: true }, 0, true],
  ["a run was stopped at an earlier action", { inDoubt: true }, 1, false],
])("whether an action that rows block may have been done already: %s", async (_, more, at, inDoubt) => {
  const { runs, ending } = await guarded(planBack([drop], [values], more), unsent, { before: refuse }, at);
  expect([runs, ending]).toEqual([[], { error: new Error("rows block it"), inDoubt }]);
});

test("an action that was in doubt when it was checked again and that rows block then stays in doubt", async () => {
  let checks = 0;
  const before = async () => (checks++ === 0 ? { version: 2, rows: [] } : await refuse());
  const { ending } = await guarded(dropping, { ...unsent, inDoubt: true }, { before });
  expect(ending).toMatchObject({ inDoubt: true, error: new Error("rows block it") });
});

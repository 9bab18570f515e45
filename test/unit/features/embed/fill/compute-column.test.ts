/** Actions for which values are computed, executed on the embedded engine. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Action, ActionFor } from "../../../../../src/actions/model/action.ts";
import type { Computation } from "../../../../../src/actions/model/computation.ts";
import { preparedAs, preparedName } from "../../../../../src/actions/rewrite/prepared-columns.ts";
import type { RunEvent } from "../../../../../src/run/events.ts";
import { preparingName, resultsName, stagingName } from "../../../../../src/features/embed/compute/staging-name.ts";
import { withExecutors } from "../../../../../src/run/executors.ts";
import * as executors from "../../../../../src/features/embed/executors.ts";
import { dropLateStaging } from "../../../../../src/features/embed/fill/drop-late-staging.ts";
import type { FillProject } from "../../../../../src/features/embed/fill/compute-session.ts";
import { MigrateError } from "../../../../../src/errors/migrate-error.ts";
import type { Executed, Target } from "../../../../../src/targets/contract/target.ts";
import { open } from "../../../../../src/targets/lance/lance.ts";
import { systemClock } from "../../../../../src/time/clock.ts";
import { temporaryFolder } from "../../../../support/project.ts";
import { lancedb, rowsOf } from "../../../../support/tables.ts";

const ledger = "_migrations";
const column = { table: "docs", path: "length" };
const columns = [
  { name: "id", type: { kind: "int64" }, nullable: true },
  { name: "text", type: { kind: "utf8" }, nullable: true },
  { name: "length", type: { kind: "int32" }, nullable: true },
] as const;
const sql: Computation = { from: ["text"], key: "id", with: { sql: "character_length(text)" }, version: "1" };
/** Fails for a text that is "bad". */
const code = `export default (rows) => rows.map(({ text }) => {
  if (text === "bad") throw new Error("no");
  return text.length;
});
`;

async function aScene() {
  const folder = temporaryFolder();
  const target = await open({ kind: "lance", uri: folder }, { name: "test", folder });
  const rows = target.rows!;
  await rows.append("docs", { columns, rows: [{ id: 1, text: "a", length: null }] });
  writeFileSync(join(folder, "code.mjs"), code);
  const events: RunEvent[] = [];
  const emit = (event: RunEvent) => void events.push(event);
  const clock = { ...systemClock, sleep: async () => {} };
  type Instead = (action: Action, otherwise: () => Promise<Executed>) => Promise<Executed>;
  const filled = (given: Partial<FillProject> = {}, instead: Instead = async (_, otherwise) => await otherwise()) => {
    const execute: Target["execute"] = async (action, seen) =>
      await instead(action, () => target.execute(action, seen));
    const context = { folder, ledger, emit, clock, mayWrite: async () => {}, ...given };
    return withExecutors({ ...target, execute }, executors, context);
  };
  const docs = await (await lancedb.connect(folder)).openTable("docs");
  return {
    target,
    rows,
    docs,
    events,
    filled,
    add: async (id: number, text: string) => await docs.add([{ id, text }]),
    /** Executes an action, and returns how many versions it made and how many it states. */
    async execute(action: ActionFor<"prepareColumn" | "switchColumn" | "catchUpColumn">, given?: Partial<FillProject>) {
      const before = (await rows.version("docs"))!;
      const on = filled(given);
      const { commits: stated } = await on.execute(action, await target.describeTable("docs"));
      return { made: (await rows.version("docs"))! - before, stated };
    },
    lengths: async () => (await rowsOf(folder, "docs")).map(({ id, length }) => [Number(id), length && Number(length)]),
  };
}

const prepare = (computation = sql) =>
  ({ kind: "prepareColumn", ...column, type: { kind: "int64" }, ...computation }) as const;
const switching = (computation = sql) => ({ ...prepare(computation), kind: "switchColumn", keep: "old" }) as const;
const catchUp = (computation = sql) => ({ kind: "catchUpColumn", ...column, ...computation, keep: "text" }) as const;

test("rows that were written after a column was prepared are computed before it takes the other one's place", async () => {
  const { execute, add, lengths } = await aScene();
  const prepared = await execute(prepare());
  expect(prepared.stated).toBe(prepared.made);
  await add(2, "bb");
  const switched = await execute(switching());
  expect(switched).toEqual({ made: switched.stated, stated: 2 });
  expect(await lengths()).toEqual(
    expect.arrayContaining([
      [1, 1],
      [2, 2],
    ]),
  );
  const idle = await aScene();
  await idle.execute(prepare());
  expect(await idle.execute(switching())).toEqual({ made: 1, stated: 1 });
});

test("if the columns are not switched, the versions that were made before are stated, and the target's own error stays", async () => {
  const { execute, add, filled } = await aScene();
  await execute(prepare());
  const switchFailing = async (thrown: Error) => {
    await add(2, "bb");
    const on = filled({}, async (action, otherwise) => {
      if (action.kind === "switchColumn") throw thrown;
      return await otherwise();
    });
    const error: unknown = await on.execute(switching(), undefined).catch((one: unknown) => one);
    return { error, verdict: on.verdict(error), words: on.explain(error) };
  };
  const refused = new Error("lance error: Commit conflict for version 7: it was preempted");
  expect(await switchFailing(refused)).toMatchObject({
    verdict: { kind: "conflict", commits: 1 },
    words: expect.stringContaining("preempted"),
  });
  const gone = new MigrateError("ERR_TARGET_UNREACHABLE", { target: "test", problem: "no answer" });
  expect((await switchFailing(gone)).error).toBe(gone);
});

test("after the switch, the run waits for writes from before it, unless no code runs, and computes them", async () => {
  const { execute, add, lengths } = await aScene();
  await execute(prepare());
  await execute(switching());
  let waits = 0;
  const sleep = async () => {
    waits++;
    await add(3, "ccc");
  };
  const caughtUp = await execute(catchUp(), { clock: { ...systemClock, sleep } });
  // One of the versions is the application's.
  expect(caughtUp.made - caughtUp.stated!).toBe(1);
  expect(waits).toBe(1);
  expect(await lengths()).toEqual(
    expect.arrayContaining([
      [1, 1],
      [3, 3],
    ]),
  );
  const rehearsed = await aScene();
  await rehearsed.execute(prepare(), { runsCode: false });
  await rehearsed.execute(switching(), { runsCode: false });
  await rehearsed.execute(catchUp(), { runsCode: false, clock: { ...systemClock, sleep } });
  expect(waits).toBe(1);
});

test("rows that can't be computed are reported when the column is prepared, and not again by the run that switches it", async () => {
  const { execute, add, events } = await aScene();
  await add(2, "bad");
  const own: Computation = { ...sql, with: "./code.mjs", failedRows: "leave" };
  const reported = () => events.filter(({ event }) => event === "notComputed");
  await execute(prepare(own));
  expect(reported()).toEqual([{ event: "notComputed", ...column, rows: 1, problem: expect.stringContaining("no") }]);
  await execute(switching(own));
  expect(reported()).toHaveLength(1);
});

test("progress is reported at most once a second, and at the end", async () => {
  const { execute, docs, events } = await aScene();
  await docs.add(Array.from({ length: 20 }, (_, index) => ({ id: 10 + index, text: `text ${index}` })));
  let now = 0;
  const clock = { ...systemClock, steady: () => now++ };
  await execute(prepare({ ...sql, with: "./code.mjs", batch: 1, concurrency: 1 }), { clock });
  const seen = events.flatMap((event) => (event.event === "computed" ? [event.rows] : []));
  expect(seen).toHaveLength(2);
  expect(seen[1]).toBe(21);
});

test("the phases of a column are reported as they begin, and rows that are merged", async () => {
  const { execute, docs, events } = await aScene();
  await docs.add(Array.from({ length: 20 }, (_, index) => ({ id: 10 + index, text: "text" })));
  const entered: string[] = [];
  const given = {
    entered: async (phase: string) => void entered.push(phase),
    clock: { ...systemClock, sleep: async () => {} },
  };
  await execute({ ...prepare(), index: { name: "length_idx", kind: "btree", options: {} } }, given);
  expect(entered).toEqual(["computing", "merging", "catching up", "indexing"]);
  const seen = events.filter((event) => event.event === "phase");
  expect(seen.slice(0, 3)).toEqual([
    { event: "phase", ...column, phase: "computing" },
    { event: "phase", ...column, phase: "merging", total: 21 },
    { event: "phase", ...column, phase: "merging", rows: 21, total: 21 },
  ]);
  entered.length = 0;
  await execute(catchUp(), given);
  expect(entered).toEqual(["catching up"]);
});

test("the leases under which a column was prepared, and what a late append has left, go when it has caught up, not before", async () => {
  const { execute, target, rows } = await aScene();
  const lease = preparingName(ledger, column);
  const left = [column.path, preparedName(column.path)].map((path) => stagingName(ledger, { ...column, path }));
  await rows.append(lease, { columns, rows: [] });
  await execute(prepare());
  await execute(switching());
  for (const name of left) await rows.append(name, { columns, rows: [] });
  expect(await target.listTables()).toContain(lease);
  await execute(catchUp());
  expect(await target.listTables()).toEqual(["docs"]);
});

test("a later catch-up leaves what another migration prepares of its column", async () => {
  const { execute, target, rows } = await aScene();
  await execute(prepare());
  await execute(switching());
  await execute(catchUp());
  const hidden = { ...column, path: preparedName(column.path) };
  const prepared = [preparingName(ledger, column), stagingName(ledger, hidden), resultsName(ledger, hidden)];
  for (const name of prepared) await rows.append(name, { columns, rows: [] });
  await execute({ ...catchUp(), isLater: true });
  expect((await target.listTables()).toSorted()).toEqual([...prepared, "docs"].toSorted());
});

test("what a late call has staged for an action that is done is dropped, unless its column is being prepared", async () => {
  const { target, rows } = await aScene();
  const own = stagingName(ledger, column);
  const hidden = { ...column, path: preparedName(column.path) };
  const [other, elsewhere] = [stagingName(ledger, { ...column, path: "text" }), resultsName("others", hidden)];
  const late = [own, stagingName(ledger, hidden), resultsName(ledger, hidden)];
  for (const name of [...late, other, elsewhere]) await rows.append(name, { columns, rows: [] });
  const backfill = { kind: "backfillColumn", ...column, set: "1" } as never;
  const lease = preparingName(ledger, column);
  await rows.append(lease, { columns, rows: [] });
  await dropLateStaging(backfill, target, ledger);
  await rows.drop(lease);
  await dropLateStaging({ kind: "dropTable", table: "docs" }, target, ledger);
  expect((await target.listTables()).toSorted()).toEqual([...late, other, elsewhere, "docs"].toSorted());
  await dropLateStaging(backfill, target, ledger);
  expect((await target.listTables()).toSorted()).toEqual([other, elsewhere, "docs"].toSorted());
});

test("an error of a run that was asked to stop is its interruption, which changes nothing more", async () => {
  const { execute, filled } = await aScene();
  await execute(prepare());
  const lost = new Error("no lease");
  const stopping = new AbortController();
  const on = filled({ mayWrite: () => Promise.reject(lost), signal: stopping.signal });
  const { next: path, mark } = preparedAs(column);
  const fill = { kind: "fillColumn", table: "docs", path, mark, ...sql, version: "2" } as const;
  await expect(on.execute(fill, undefined)).rejects.toBe(lost);
  stopping.abort();
  const error: unknown = await on.execute(fill, undefined).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "ERR_INTERRUPTED" });
  expect(on.verdict(error)).toEqual({ kind: "refused" });
});

test("a command that computes values has ended when they are computed", async () => {
  const { filled, target } = await aScene();
  const folder = temporaryFolder();
  const program = `
    process.stdin.on("data", (line) => {
      const { id, rows } = JSON.parse(line);
      console.log(JSON.stringify({ id, values: rows.map(({ text }) => text.length) }));
    });
    process.stdin.on("end", () => require("node:fs").writeFileSync("ended", ""));
  `;
  const action = prepare({ ...sql, with: { command: [process.execPath, "-e", program] } });
  await filled({ folder }).execute(action, await target.describeTable("docs"));
  expect(existsSync(join(folder, "ended"))).toBe(true);
  await target.close();
});

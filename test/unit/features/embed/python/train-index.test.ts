/** What is done with the answers of the script. What the script itself does is in test/oracle/index-column.test.ts. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { CreateIndexAction } from "../../../../../src/actions/model/action.ts";
import { preparedName } from "../../../../../src/actions/rewrite/prepared-columns.ts";
import type { RunEvent } from "../../../../../src/run/events.ts";
import { withExecutors } from "../../../../../src/run/executors.ts";
import { createIndex } from "../../../../../src/features/embed/python/train-index.ts";
import { btree, ivfFlat, ivfPq } from "../../../../../src/schema/declare/index-builders.ts";
import { columnsOf, vector } from "../../../../../src/schema/declare/type-builders.ts";
import type { IndexType } from "../../../../../src/schema/table-index.ts";
import { open } from "../../../../../src/targets/lance/lance.ts";
import { temporaryFolder } from "../../../../support/project.ts";
import { shellProgram } from "../../../../support/shell-program.ts";

const preempted = "This CreateIndex transaction was preempted by concurrent transaction Rewrite";

interface Scene {
  /** What the client is refused with. */
  readonly refused?: string;
  readonly type?: IndexType;
  readonly mayWrite?: () => Promise<void>;
  readonly signal?: AbortSignal;
  /** The column is a prepared one of a table with this number of rows. */
  readonly prepared?: number;
}

/** A target whose client is refused, and a program in place of Python, which does this in the shell. */
async function aScene(does: string, { refused = preempted, type = ivfFlat(), mayWrite, signal, prepared }: Scene = {}) {
  const folder = temporaryFolder();
  const real = await open({ kind: "lance", uri: folder }, { name: "test", folder });
  const path = prepared === undefined ? "v" : preparedName("v");
  const columns = columnsOf({ [path]: vector(16) });
  await real.execute({ kind: "createTable", table: "docs", columns }, undefined);
  const printed: string[] = [];
  const emit = (event: RunEvent) => void (event.event === "printed" && printed.push(event.line));
  let calls = 0;
  const execute = async () => (calls++, await Promise.reject(new Error(refused)));
  const count = async () => prepared ?? 0;
  const project = { python: shellProgram(does), emit, signal, mayWrite: mayWrite ?? (async () => {}) };
  const target = withExecutors({ ...real, execute, countRows: count }, { createIndex }, project);
  const action: CreateIndexAction = { kind: "createIndex", table: "docs", name: "by_v", index: { path, ...type } };
  const recreate = async () => {
    await real.execute({ kind: "dropTable", table: "docs" }, await real.describeTable("docs"));
    await real.execute({ kind: "createTable", table: "docs", columns }, undefined);
  };
  const seen = await real.describeTable("docs");
  return {
    target,
    printed,
    recreate,
    calls: () => calls,
    create: async () => (await target.execute(action, seen)).version,
  };
}

const asking = (then: string) => `echo '{"ask": "commit"}'; read -r answer; ${then}`;

test("each try is allowed first, and the version of the last one is returned", async () => {
  let asked = 0;
  const mayWrite = async () => void asked++;
  const again = asking(`echo '{"preempted": true}'; ${asking(`echo '{"built": 7}'`)}`);
  const { create, printed } = await aScene(again, { mayWrite });
  expect(await create()).toBe(7);
  expect([asked, printed]).toEqual([2, []]);
});

test.each([
  [`echo '{"problem": "it can not be trained"}'`, "it can not be trained"],
  [`echo '{"missing": "it lacks a package: x"}'`, "it lacks a package: x"],
  ["exit 3", "it ended with exit code 3"],
  ["exit 0", "it ended early"],
  [asking(`echo '{"preempted": true}'; echo '{"problem": "too many tries"}'`), "too many tries"],
])("what has not helped is printed once, and the client builds the index: %s", async (does, why) => {
  const { create, printed, target } = await aScene(does);
  const error: unknown = await create().catch((thrown: unknown) => thrown);
  expect(target.verdict(error).kind).toBe("conflict");
  await expect(create()).rejects.toThrow("preempted");
  expect(printed).toEqual([`index by_v can't be built with Python (${why}), so LanceDB's client builds it`]);
});

test("a try without an answer may have built the index", async () => {
  const { create, target } = await aScene(asking("echo killed >&2; exit 9"));
  const error: unknown = await create().catch((thrown: unknown) => thrown);
  expect(target.verdict(error).kind).toBe("unanswered");
  expect(target.explain(error)).toMatch(/gave no answer: it ended with exit code 9: killed$/);
});

test("no index is built on a table that others have put in the place of this one", async () => {
  let recreate = async () => {};
  const mayWrite = async () => await recreate();
  const scene = await aScene(asking(`echo '{"built": 7}'`), { mayWrite });
  expect(await scene.create()).toBe(7);
  ({ recreate } = scene);
  const error: unknown = await scene.create().catch((thrown: unknown) => thrown);
  expect(scene.target.verdict(error).kind).toBe("conflict");
});

/** Builds an index and interrupts that when a try has begun, which then does this in the shell. */
async function interruptedIn(does: string) {
  const control = new AbortController();
  const [begun, interrupted] = ["begun", "interrupted"].map((name) => join(temporaryFolder(), name)) as [
    string,
    string,
  ];
  const trying = `touch ${begun}; until [ -e ${interrupted} ]; do sleep 0.05; done; ${does}`;
  const { create, target } = await aScene(asking(trying), { signal: control.signal });
  const creating = Promise.allSettled([create()]);
  await expect.poll(() => existsSync(begun)).toBe(true);
  control.abort();
  writeFileSync(interrupted, "");
  const [done] = await creating;
  return { done, target };
}

test("an interruption does not hide that a try gave no answer", async () => {
  const { done, target } = await interruptedIn("exit 9");
  expect(done.status === "rejected" && target.verdict(done.reason).kind).toBe("unanswered");
});

test.each<[string, Scene]>([
  ["an error that is no conflict", { refused: "Not enough rows to train PQ" }],
  ["an index that is not trained", { type: btree() }],
])("%s starts no Python", async (_, how) => {
  const { create, printed } = await aScene("exit 3", how);
  await expect(create()).rejects.toThrow(how.refused ?? preempted);
  expect(printed).toEqual([]);
});

test("a run that may not write any more makes no try", async () => {
  const mayWrite = async () => Promise.reject(new Error("the lease is lost"));
  const { create } = await aScene(asking(`echo '{"built": 7}'; sleep 600`), { mayWrite });
  await expect(create()).rejects.toThrow("the lease is lost");
});

test("an interruption ends training, and then no try is made", async () => {
  const control = new AbortController();
  const { create, printed, target } = await aScene("exec sleep 600", { signal: control.signal, type: ivfPq() });
  setTimeout(() => control.abort(), 200);
  const error: unknown = await create().catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "ERR_INTERRUPTED" });
  expect(target.verdict(error).kind).toBe("refused");
  expect(printed).toEqual([]);
});

test.each([
  [`echo '{"built": 7}'`, 7],
  [`echo '{"preempted": true}'; exec sleep 600`, undefined],
])("a try that has begun is awaited after an interruption: %s", async (ends, version) => {
  const { done } = await interruptedIn(ends);
  expect(done).toMatchObject(version === undefined ? { status: "rejected" } : { status: "fulfilled", value: version });
});

test.each([
  [9_999, 1],
  [10_000, 0],
])(
  "the index of a prepared column of %i rows is built with Python, after %i calls of the client",
  async (rows, calls) => {
    const scene = await aScene(asking(`echo '{"built": 7}'`), { prepared: rows });
    expect(await scene.create()).toBe(7);
    expect(scene.calls()).toBe(calls);
  },
);

test("if Python can't build it, the client does, and Python is not tried again", async () => {
  const { create, printed, calls } = await aScene(`echo '{"problem": "too few"}'`, { prepared: 10_000 });
  await expect(create()).rejects.toThrow("preempted");
  expect(printed).toEqual(["index by_v can't be built with Python (too few), so LanceDB's client builds it"]);
  expect(calls()).toBe(1);
});

test("an interruption of the training of a prepared column does not start the client", async () => {
  const control = new AbortController();
  const { create, calls } = await aScene("exec sleep 600", { signal: control.signal, prepared: 10_000 });
  setTimeout(() => control.abort(), 200);
  await expect(create()).rejects.toMatchObject({ code: "ERR_INTERRUPTED" });
  expect(calls()).toBe(0);
});

/** Builds of deferred indexes that are interrupted, or beside another run that holds the lease. */
import { expect, test } from "vitest";
import { up } from "../../src/commands/up.ts";
import { createIndex, createTable, ivfFlat, vector } from "../../src/index.ts";
import { journalOf } from "../../src/ledger/journal/open-journal.ts";
import { takeLease } from "../../src/ledger/lease/lease.ts";
import { foldLedger } from "../../src/ledger/state/fold.ts";
import type { RunEvent } from "../../src/run/events.ts";
import { open as openLance } from "../../src/targets/lance/lance.ts";
import { systemClock } from "../../src/time/clock.ts";
import { temporaryFolder } from "../support/project.ts";
import { addRows, lancedb } from "../support/tables.ts";
import { optionsFor, watched, writeMigrations, type Watch } from "../support/watched.ts";

/** A live holder is waited for until it renews its lease: after a third of it. */
const duration = 6_000;

/** A database with two deferred indexes whose table holds enough vectors now. */
async function aScene() {
  const [data, folder] = [temporaryFolder(), temporaryFolder()];
  const target = await openLance({ kind: "lance", uri: data }, { name: "here", folder: data });
  writeMigrations(folder, [
    [
      createTable("docs", { a: vector(2), b: vector(2) }),
      createIndex("docs", "a", ivfFlat()),
      createIndex("docs", "b", ivfFlat()),
    ],
  ]);
  const options = { ...optionsFor(folder, target, systemClock), lease: { duration, patience: 20_000 } };
  await up(options);
  await addRows(data, "docs", [{ a: [1, 2], b: [3, 4] }]);
  return {
    options,
    async up(watch: Watch = {}, more: object = {}) {
      const events: RunEvent["event"][] = [];
      const emit = ({ event }: RunEvent) => void events.push(event);
      const { deferred = [] } = await up({ ...options, target: watched(target, watch), emit, ...more });
      return { left: deferred.map(({ index }) => index), built: events.filter((one) => one === "indexed").length };
    },
    async indexes() {
      const found = await (await (await lancedb.connect(data)).openTable("docs")).listIndices();
      return found.map(({ name }) => name).toSorted();
    },
    /** Another run takes the lease, and renews it until it is released or abandoned. */
    async otherRun() {
      const journal = journalOf(target, "_migrations");
      const runner = { by: "another", run: "another", tool: "" };
      const state = foldLedger(await journal.read());
      return (await takeLease(journal, state, runner, undefined, { duration, clock: systemClock }))!;
    },
    async records() {
      return (await journalOf(target, "_migrations").read()).length;
    },
  };
}

const both = ["a_idx", "b_idx"];

test("Ctrl-C during a build ends after that index, and the next run builds the others", async () => {
  const scene = await aScene();
  const control = new AbortController();
  const stop: Watch = { before: (_, what) => void (what === "execute" && control.abort()) };
  expect(await scene.up(stop, { signal: control.signal })).toEqual({ left: ["b_idx"], built: 1 });
  expect(await scene.indexes()).toEqual(["a_idx"]);
  expect(await scene.up()).toEqual({ left: [], built: 1 });
  expect(await scene.indexes()).toEqual(both);
});

test("a run does not wait for a live one that holds the lease: it builds nothing, and a later run does", async () => {
  const scene = await aScene();
  const other = await scene.otherRun();
  expect(await scene.up()).toEqual({ left: both, built: 0 });
  expect(await scene.indexes()).toEqual([]);
  await other.release();
  expect(await scene.up()).toEqual({ left: [], built: 2 });
  expect(await scene.indexes()).toEqual(both);
});

test("a run takes over from a dead one, and Ctrl-C while it waits for that is no error", async () => {
  const scene = await aScene();
  (await scene.otherRun()).abandon();
  const records = await scene.records();
  const control = new AbortController();
  setTimeout(() => control.abort(), duration / 3);
  expect(await scene.up({}, { signal: control.signal })).toEqual({ left: both, built: 0 });
  expect(await scene.records()).toBe(records);
  expect(await scene.up()).toEqual({ left: [], built: 2 });
  expect(await scene.indexes()).toEqual(both);
});

/** What a ledger states about deferred indexes, and what it costs a run with nothing pending to learn it. */
import { expect, test } from "vitest";
import { up } from "../../src/commands/up.ts";
import { journalOf } from "../../src/ledger/journal/open-journal.ts";
import { recordChain } from "../../src/ledger/lease/record-chain.ts";
import { foldLedger } from "../../src/ledger/state/fold.ts";
import { open as openLance } from "../../src/targets/lance/lance.ts";
import { open as openRest } from "../../src/features/rest/rest.ts";
import type { Target } from "../../src/targets/contract/target.ts";
import { systemClock } from "../../src/time/clock.ts";
import { temporaryFolder } from "../support/project.ts";
import { casesInTurn } from "../support/rounds.ts";
import { aService, apiKey } from "../support/service.ts";
import { addRows, lancedb } from "../support/tables.ts";
import { optionsFor, watched, writeMigrations } from "../support/watched.ts";
import { createIndex, createTable, int64, ivfFlat, vector } from "../../src/index.ts";

const inTurn = casesInTurn();

const rows = [1, 2].map((id) => ({ id, at: [id, 1] }));
const first = [createTable("docs", { id: int64(), at: vector(2) }), createIndex("docs", "at", ivfFlat())];

interface Scene {
  readonly data: string;
  readonly target: Target;
  /** Applies these migrations; returns the indexes that stay deferred, and the calls that were made. */
  readonly up: (...migrations: readonly (readonly object[])[]) => Promise<readonly [left: number, calls: string[]]>;
}

async function aScene(way: "lance" | "namespace"): Promise<Scene> {
  const [data, folder] = [temporaryFolder(), temporaryFolder()];
  const target =
    way === "lance"
      ? await openLance({ kind: "lance", uri: data }, { name: "here", folder: data })
      : await openRest(
          { kind: "rest", endpoint: (await aService(data)).url, apiKey, dialect: "namespace" },
          { name: "here", folder: data },
        );
  return {
    data,
    target,
    async up(...migrations) {
      writeMigrations(folder, migrations);
      const calls: string[] = [];
      const seen = watched(target, { before: (_, what) => calls.push(what) });
      const { deferred = [] } = await up(optionsFor(folder, seen, systemClock));
      return [deferred.length, calls];
    },
  };
}

async function indexesOf({ data }: Scene): Promise<number> {
  return (await (await (await lancedb.connect(data)).openTable("docs")).listIndices()).length;
}

/** Adds the records of a run that does not know of deferred indexes. */
async function runOfOlderRelease({ target }: Scene): Promise<void> {
  const journal = journalOf(target, "_migrations");
  const state = { ...foldLedger(await journal.read()), deferral: undefined };
  const runner = { by: "older", run: "older", tool: "lance-migrate 0.0.1" };
  const chain = recordChain(state, runner, systemClock, journal.hashOf);
  const taken = chain.begin({ event: "taken", lease: 1_000 });
  expect(await journal.take(taken)).toBe(true);
  chain.began(taken);
  await chain.write([{ event: "released" }], (records) => journal.add(records));
  expect((await journal.head())?.detail).toBeUndefined();
}

test.each(inTurn(["lance", "namespace"] as const))(
  "on %s, up finds what is deferred after an older release has written the newest record",
  async (way) => {
    const scene = await aScene(way);
    expect((await scene.up(first))[0]).toBe(1);
    await runOfOlderRelease(scene);
    expect((await scene.up(first))[0]).toBe(1);
    await addRows(scene.data, "docs", rows);
    expect((await scene.up(first))[0]).toBe(0);
    expect(await indexesOf(scene)).toBe(1);

    // Nothing is deferred any more: the run reads the ledger, and no table.
    await runOfOlderRelease(scene);
    expect(await scene.up(first)).toEqual([0, expect.not.arrayContaining(["look", "write", "take"])]);
  },
);

test.each(inTurn(["lance", "namespace"] as const))(
  "on %s, a run with nothing pending makes one call, whether indexes were ever deferred or not",
  async (way) => {
    const scene = await aScene(way);
    const plain = [createTable("docs", { id: int64(), at: vector(2) })];
    await scene.up(plain);
    expect(await scene.up(plain)).toEqual([0, ["head"]]);

    const other = await aScene(way);
    await other.up(first);
    expect((await other.up(first))[1].length).toBeGreaterThan(1);
    await addRows(other.data, "docs", rows);
    await other.up(first);
    expect(await other.up(first)).toEqual([0, ["head"]]);
    // Also after a later migration.
    await other.up(first, [createTable("more", { id: int64() })]);
    expect(await other.up(first, [createTable("more", { id: int64() })])).toEqual([0, ["head"]]);
  },
);

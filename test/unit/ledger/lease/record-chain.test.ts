import { expect, test } from "vitest";
import { appliedHash } from "../../../../src/ledger/state/applied-hash.ts";
import { recordChain, type RecordChain } from "../../../../src/ledger/lease/record-chain.ts";
import { systemClock } from "../../../../src/time/clock.ts";
import { foldLedger } from "../../../../src/ledger/state/fold.ts";
import {
  deferralDetail,
  recordHash,
  type LedgerEntry,
  type LedgerRecord,
} from "../../../../src/ledger/state/record.ts";

const runner = { by: "ann@machine", run: "run 1", tool: "test 1" };

function applied(version: number): LedgerEntry {
  return { event: "applied", version, name: `m${version}`, step: 1, total: 1, textHash: `text ${version}` };
}

const hashOf = (...versions: readonly number[]) =>
  appliedHash(versions.map((version) => ({ version, textHash: `text ${version}` }))).value;

/** A chain on these records, as the next runner would make it. */
function chainOn(records: readonly LedgerRecord[]) {
  return recordChain(foldLedger(records), runner, { ...systemClock, wall: () => 1_000 }, recordHash);
}

/** Takes the epoch and goes on from there. */
function begin(chain: RecordChain): LedgerRecord {
  const taken = chain.begin({ event: "taken", lease: 30_000 });
  chain.began(taken);
  return taken;
}

/** The records of an epoch on top of these, each entry written by itself. */
async function anEpoch(records: readonly LedgerRecord[], entries: readonly LedgerEntry[]) {
  const chain = chainOn(records);
  const stored = [...records, begin(chain)];
  for (const entry of entries) await chain.write([entry], async (more) => void stored.push(...more));
  return stored;
}

const released: LedgerEntry = { event: "released" };

test("the first record of a ledger is numbered 0 and has none before it", () => {
  expect(chainOn([]).begin({ event: "taken", next: 1, lease: 30_000 })).toEqual({
    ...runner,
    event: "taken",
    next: 1,
    lease: 30_000,
    epoch: 1,
    number: 0,
    at: 1_000,
    applied: hashOf(),
    previous: "",
  });
});

test("each record carries the hash of the one before it, from one epoch into the next", async () => {
  const all = await anEpoch(await anEpoch([], [applied(1), released]), [released]);
  expect(all.map(({ previous }) => previous)).toEqual(["", ...all.slice(0, -1).map(recordHash)]);
  expect(all.map(({ epoch, number }) => `${epoch}.${number}`)).toEqual(["1.0", "1.1", "1.2", "2.0", "2.1"]);
});

test("records that are written together are chained, and carry the hash of what is applied by the end of the write", async () => {
  const together: LedgerRecord[] = [];
  const chain = chainOn([]);
  together.push(begin(chain));
  await chain.write([applied(1), applied(2), released], async (more) => void together.push(...more));
  expect(together.map(({ previous }) => previous)).toEqual(["", ...together.slice(0, -1).map(recordHash)]);
  expect(together.map((record) => record.applied)).toEqual([hashOf(), hashOf(1, 2), hashOf(1, 2), hashOf(1, 2)]);
});

test("a holder that takes another epoch goes on with the same chain", async () => {
  const chain = chainOn([]);
  const [first, second] = [begin(chain), begin(chain)];
  expect([first, second]).toMatchObject([
    { epoch: 1, number: 0, previous: "" },
    { epoch: 2, number: 0, previous: recordHash(first) },
  ]);
});

test("an epoch that somebody else took is no part of the chain", async () => {
  const chain = chainOn([]);
  const taken = begin(chain);
  chain.begin({ event: "taken" });
  const stored: LedgerRecord[] = [];
  await chain.write([applied(1)], async (more) => void stored.push(...more));
  expect(stored).toMatchObject([{ epoch: 1, number: 1, previous: recordHash(taken) }]);
});

test("each record has the hash of all migrations that are applied at that point", async () => {
  const first = await anEpoch([], [applied(1), applied(3), released]);
  const all = await anEpoch(first, [{ ...applied(2), event: "failed" }, applied(2)]);
  expect(all.map((record) => record.applied)).toEqual([
    hashOf(),
    hashOf(1),
    hashOf(1, 3),
    hashOf(1, 3),
    hashOf(1, 3),
    hashOf(1, 3),
    hashOf(1, 2, 3),
  ]);
});

test("a note of another text changes the hash of what is applied", async () => {
  const noted: LedgerEntry = { ...applied(1), event: "noted", textHash: "other text" };
  const expected = appliedHash([
    { version: 1, textHash: "other text" },
    { version: 2, textHash: "text 2" },
  ]);
  expect((await anEpoch([], [applied(1), applied(2), noted])).at(-1)!.applied).toBe(expected.value);
});

test("the hash of what is applied is that of what the ledger folds to", async () => {
  const all = await anEpoch(await anEpoch([], [applied(4), applied(1)]), [applied(3), applied(2)]);
  const folded = [...foldLedger(all).migrations.values()];
  expect(all.at(-1)!.applied).toBe(appliedHash(folded).value);
});

test("once a ledger is rebuilt, only what its epoch says counts as applied", async () => {
  const first = await anEpoch([], [applied(1), applied(2), released]);
  const chain = chainOn(first);
  const stored: LedgerRecord[] = [...first, begin(chain)];
  const store = async (records: readonly LedgerRecord[]) => void stored.push(...records);
  await chain.write([applied(3)], store);
  await expect(chain.write([applied(4)], () => Promise.reject(new Error("busy")))).rejects.toThrow("busy");
  await chain.write([applied(1), { event: "rebuilt" }, { event: "renewed" }], store);
  await chain.write([applied(5), released], store);
  expect(stored.slice(4).map((record) => record.applied)).toEqual([
    hashOf(1, 2),
    hashOf(1, 2, 3),
    ...Array(3).fill(hashOf(1, 3)),
    ...Array(2).fill(hashOf(1, 3, 5)),
  ]);
  const folded = [...foldLedger(stored).migrations.values()];
  expect(stored.at(-1)!.applied).toBe(appliedHash(folded).value);
});

test("a write that fails is no link of the chain, and its numbers are not used again", async () => {
  const stored: LedgerRecord[] = [];
  const chain = chainOn([]);
  const taken = begin(chain);
  const refuse = () => Promise.reject(new Error("the disk is full"));
  await expect(chain.write([applied(1), { event: "renewed" }], refuse)).rejects.toThrow("the disk is full");
  await chain.write([applied(2)], async (more) => void stored.push(...more));
  expect(stored).toMatchObject([{ number: 3, previous: recordHash(taken), applied: hashOf(2) }]);
});

test("a record's hash covers every field of it and not their order", () => {
  const record = chainOn([]).begin({ ...applied(1), detail: "why", tables: { b: [1, 2], a: [null, 1] } });
  const reversed = Object.fromEntries(Object.entries(record).toReversed()) as unknown as LedgerRecord;
  expect(recordHash(reversed)).toBe(recordHash(record));
  const others = Object.keys(record).map((key) => recordHash({ ...record, [key]: "other" }));
  expect(new Set([recordHash(record), ...others]).size).toBe(others.length + 1);
});

test("the running hash is without what is being rolled back, and with it again where nothing was rolled back after all", async () => {
  const facts = { version: 2, name: "m2", textHash: "another text by then" };
  const reverting: LedgerEntry = { event: "reverting", ...facts, step: 0, total: 2, next: 2 };
  const failed: LedgerEntry = { event: "failed", ...facts, step: 0, total: 2 };
  const reverted: LedgerEntry = { event: "reverted", ...facts, step: 2, total: 2 };
  const before = await anEpoch([], [applied(1), applied(2), released]);
  const all = await anEpoch(before, [reverting, failed, reverting, reverted, released]);
  const hashes = all.slice(before.length).map((record) => record.applied);
  expect(hashes).toEqual([hashOf(1, 2), hashOf(1), hashOf(1, 2), hashOf(1), hashOf(1), hashOf(1)]);
  // Who takes the next epoch in the middle says the same.
  expect(begin(chainOn(all.slice(0, before.length + 2))).applied).toBe(hashOf(1));
});

test("of entries that are written together the last one about a migration counts", async () => {
  const ran = await anEpoch([], [applied(1), applied(2), released]);
  const chain = chainOn(ran);
  begin(chain);
  const facts = { version: 2, name: "m2", step: 0, total: 1, textHash: "text 2" };
  let last: LedgerRecord | undefined;
  const write = async (...entries: readonly LedgerEntry[]) => {
    await chain.write(entries, async (more) => void (last = more.at(-1)));
    return last!.applied;
  };
  expect(await write({ event: "reverting", ...facts }, { event: "failed", ...facts })).toBe(hashOf(1, 2));
  expect(await write({ event: "reverting", ...facts }, { event: "reverted", ...facts })).toBe(hashOf(1));
  expect(await write(applied(2), { event: "reverting", ...facts })).toBe(hashOf(1));
  // The same holds if these are all that counts.
  expect(await write(applied(1), applied(2), { event: "reverting", ...facts }, { event: "rebuilt" })).toBe(hashOf(1));
});

test("records that are about no migration repeat which indexes are deferred, and that none are", async () => {
  const deferral = deferralDetail(["i of t"]);
  const records: LedgerRecord[] = [];
  const write = async (...entries: readonly LedgerEntry[]) =>
    await chain.write(entries, async (added) => void records.push(...added));
  const chain = chainOn([]);
  records.push(begin(chain));
  await write({ ...applied(1), detail: deferral }, applied(2), { event: "released" });
  expect(records.map(({ detail }) => detail)).toEqual([undefined, deferral, undefined, deferral]);

  const next = chainOn(records);
  expect(begin(next).detail).toBe(deferral);
  await next.write([{ event: "renewed", detail: deferralDetail([]) }, { event: "released" }], async (added) => {
    expect(added.map(({ detail }) => detail)).toEqual(["deferred: none", "deferred: none"]);
  });
});

import * as fc from "../../../support/fast-check.ts";
import { expect, test } from "vitest";
import { foldLedger } from "../../../../src/ledger/state/fold.ts";
import { appliedIn, groupInDoubt, migrationsInDoubt, isHalfDone } from "../../../../src/ledger/state/ledger-state.ts";
import {
  aloneEntry,
  deferralDetail,
  groupEntry,
  groupOf,
  isNamed,
  type LedgerEvent,
  type LedgerRecord,
} from "../../../../src/ledger/state/record.ts";

function aRecord(place: `${number}.${number}`, event: LedgerEvent, more: Partial<LedgerRecord> = {}): LedgerRecord {
  const [epoch = 0, number = 0] = place.split(".").map(Number);
  const who = { by: `holder ${epoch}`, run: `run ${epoch}`, tool: "test" };
  return { epoch, number, event, at: epoch * 100 + number, applied: "", previous: "", ...who, ...more };
}

/** What a record states about a migration of three actions. */
function about(version: number, step: number) {
  const hashes = { checksum: `checksum ${version}`, steps: ["a", "b", "c"], textHash: `text ${version}` };
  return { version, name: `m${version}`, step, total: 3, attempt: 1, duration: 7, tables: {}, ...hashes };
}

/**
 * A ledger in words, each text an epoch: "taken >1, applied 1, failed 2/1 >2". A record is about a version, of whose three
 * actions as many are done as stand behind the slash, or all; "1/0:2" is a rollback of two actions. What is next stands
 * behind ">". "group 1 2" is the record of a group, and "looked 1" is about the late calls of epoch 1.
 */
function ledger(...epochs: readonly string[]): readonly LedgerRecord[] {
  return epochs.flatMap((records, index) =>
    records.split(", ").map((words, number) => aRecord(`${index + 1}.${number}`, ...inWords(words))),
  );
}

function inWords(words: string): readonly [LedgerEvent, Partial<LedgerRecord>] {
  const [, event = "", subject = "", next] = /^(\w+) ?([^>]*?)(?: ?>(\d+))?$/.exec(words)!;
  const more = next === undefined ? {} : { next: Number(next) };
  if (event === "group") return ["renewed", { ...groupEntry(subject.split(" ").map(Number)), ...more }];
  if (event === "looked") return [event, { late: Number(subject) }];
  const [version = 0, step = 3, total = 3] = subject.split(/[/:]/).filter(Boolean).map(Number);
  const detail = event === "failed" ? { detail: `why ${version}` } : {};
  return [
    event as LedgerEvent,
    { ...detail, ...(subject !== "" && about(version, step)), ...(subject !== "" && { total }), ...more },
  ];
}

const folded = (...epochs: readonly string[]) => foldLedger(ledger(...epochs));
const inDoubt = (...epochs: readonly string[]) => [...folded(...epochs).inDoubt];

const events = ["renewed", "advanced", "applied", "failed", "interrupted", "noted", "released"] as const;

/** Up to four epochs, each taken and then holding whatever events in whatever order. */
const ledgers = fc
  .array(
    fc.record({
      next: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
      said: fc.array(
        fc.record({
          event: fc.constantFrom(...events),
          version: fc.integer({ min: 1, max: 3 }),
          step: fc.integer({ min: 0, max: 3 }),
          next: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
        }),
        { maxLength: 5 },
      ),
    }),
    { maxLength: 4 },
  )
  .map((epochs) =>
    epochs.flatMap(({ next, said }, index) => [
      aRecord(`${index + 1}.0`, "taken", { next, lease: 30_000 }),
      ...said.map(({ event, version, step, next: then }, at) =>
        aRecord(`${index + 1}.${at + 1}`, event, {
          next: then,
          ...(event === "renewed" || event === "released" ? {} : about(version, step)),
        }),
      ),
    ]),
  );

const appliedVersions = (records: readonly LedgerRecord[]) =>
  [...foldLedger(records).migrations.values()].filter(({ status }) => status === "applied").map((one) => one.version);

test("the order in which records are read changes nothing", () => {
  const shuffled = ledgers.chain((records) =>
    fc.tuple(
      fc.constant(records),
      fc.shuffledSubarray(records, { minLength: records.length, maxLength: records.length }),
    ),
  );
  fc.assert(
    fc.property(shuffled, ([records, others]) => {
      expect(foldLedger(others)).toEqual(foldLedger(records));
    }),
  );
});

test("no record whatever rolls back what is applied", () => {
  fc.assert(
    fc.property(ledgers, fc.nat(), (records, chosen) => {
      const without = records.filter((_, index) => index !== chosen % Math.max(1, records.length));
      expect(appliedVersions(records)).toEqual(expect.arrayContaining(appliedVersions(without)));
    }),
  );
});

test("migrations come by ascending version, however they ran", () => {
  fc.assert(
    fc.property(ledgers, (records) => {
      const versions = [...foldLedger(records).migrations.keys()];
      expect(versions).toEqual(versions.toSorted((one, other) => one - other));
    }),
  );
});

test("of a migration of which a record states only that it is under way, nothing is done", () => {
  const { migrations } = foldLedger([aRecord("1.0", "advanced", { version: 1, name: "m1" })]);
  const facts = { step: 0, total: 0, checksum: "", steps: [], textHash: "", attempt: 1, duration: 0, tables: {} };
  expect([...migrations.values()]).toEqual([
    { version: 1, name: "m1", ...facts, status: "partial", order: 0, at: 100, by: "holder 1" },
  ]);
});

test("what is marked as applied counts as applied, and is known not to have run", () => {
  const { migrations } = folded("taken, baselined 1, released");
  expect([...migrations.values()]).toEqual([
    { ...about(1, 3), status: "applied", order: 1, at: 101, by: "holder 1", isBaselined: true },
  ]);
});

test.each([
  {
    what: "is applied, though a late older holder adds that it failed",
    epochs: ["taken >1, failed 1/1, released", "taken >1, applied 1, released"],
    is: { ...about(1, 3), status: "applied", at: 201, by: "holder 2" },
    detail: undefined,
  },
  {
    what: "is applied if an older holder applied it, though a newer one failed",
    epochs: ["taken >1, applied 1", "taken >1, failed 1/2"],
    is: { status: "applied", step: 3 },
    detail: undefined,
  },
  {
    what: "got as far as the newest holder states, not the latest writer",
    epochs: ["taken >1, failed 1/1", "taken >1, interrupted 1/2, released"],
    is: { status: "partial", step: 2 },
    detail: undefined,
  },
  {
    what: "that failed states how far it got, and why it stopped",
    epochs: ["taken >1, failed 1/2, released"],
    is: { status: "partial", step: 2 },
    detail: "why 1",
  },
])("a migration $what", ({ epochs, is, detail }) => {
  const { detail: found, ...known } = folded(...epochs).migrations.get(1)!;
  expect(known).toMatchObject(is);
  expect(found).toBe(detail);
});

test("a note changes the text's hash and nothing else", () => {
  const applied = ledger("taken >1, applied 1");
  const noted = aRecord("1.2", "noted", { ...about(1, 3), textHash: "other text", checksum: "ignored" });
  const known = foldLedger(applied).migrations.get(1)!;
  expect(foldLedger([...applied, noted]).migrations.get(1)).toEqual({ ...known, textHash: "other text" });
});

test("migrations that ran out of order are ordered as they ran", () => {
  const { migrations } = folded(
    "taken >3, applied 3 >1, applied 1, released",
    "taken >2, noted 3 >2, applied 2, released",
  );
  const asRun = [...migrations.values()].toSorted((one, other) => one.order - other.order);
  expect(asRun.map(({ version }) => version)).toEqual([3, 1, 2]);
});

test.each<{ why: string; epochs: readonly string[]; doubt: readonly number[] }>([
  { why: "a holder is still at it", epochs: ["taken >1"], doubt: [] },
  { why: "the holder was never heard of again", epochs: ["taken >1", "taken >1"], doubt: [1] },
  {
    why: "the holder turned to another migration with a renewal before it died",
    epochs: ["taken >1, renewed >7", "taken >1"],
    doubt: [7],
  },
  { why: "the holder died at the next migration", epochs: ["taken >1, applied 1 >2", "taken >2"], doubt: [2] },
  {
    why: "the holder died between the actions of one",
    epochs: ["taken >1, advanced 1/2 >1", "taken >1"],
    doubt: [1],
  },
  { why: "the epoch was released", epochs: ["taken >1, released", "taken >1"], doubt: [] },
  {
    why: "the epoch was released by one who could not find out",
    epochs: ["taken >1, failed 1/1, released >1", "taken >1"],
    doubt: [1],
  },
  {
    why: "the epoch was released with its failure",
    epochs: ["taken >1, failed 1/1, released", "taken >1"],
    doubt: [],
  },
  {
    why: "a later epoch took and released without a word about it",
    epochs: ["taken >1", "taken >1, released"],
    doubt: [1],
  },
  { why: "a later epoch spoke of another migration", epochs: ["taken >1", "taken >2, applied 2"], doubt: [1] },
  { why: "a later epoch recorded that it failed", epochs: ["taken >1", "taken >1, failed 1/0"], doubt: [] },
  { why: "a later epoch applied it", epochs: ["taken >1", "taken >1, applied 1"], doubt: [] },
  {
    why: "the taker over died at the same place",
    epochs: ["taken >1", "taken >1, advanced 1/1 >1", "taken >1"],
    doubt: [1],
  },
  { why: "two holders died at two migrations", epochs: ["taken >1", "taken >2", "taken >1"], doubt: [1, 2] },
  {
    why: "the late holder recorded itself how it ended",
    epochs: ["taken >1, failed 1/0, released", "taken >1"],
    doubt: [],
  },
  {
    why: "the late holder applied it after another run had taken over and died at it",
    epochs: ["taken >1, applied 1", "taken >1", "taken >2"],
    doubt: [],
  },
  {
    why: "a run died while it rolled an applied migration back",
    epochs: ["taken >1, applied 1, released", "taken, reverting 1/0 >1", "taken >1"],
    doubt: [1],
  },
  {
    why: "a holder found it in doubt and left it so",
    epochs: ["taken >1", "taken, released >1"],
    doubt: [1],
  },
  {
    why: "a holder left it so, and had not read the older record that settles it",
    epochs: ["taken >1, failed 1/0, released", "taken, released >1"],
    doubt: [],
  },
])("what is in doubt when $why: $doubt", ({ epochs, doubt }) => {
  expect(inDoubt(...epochs)).toEqual(doubt);
});

test("what a holder is at is in doubt to everybody but itself", () => {
  const state = folded("taken >1", "taken >3");
  expect(migrationsInDoubt(state, "run 2")).toEqual(new Set([1]));
  expect(migrationsInDoubt(state, "another run")).toEqual(new Set([1, 3]));
});

test("a released ledger leaves a reader nothing to doubt", () => {
  expect(migrationsInDoubt(folded("taken >1, applied 1, released"), "another run")).toEqual(new Set());
});

test("what a rebuilt epoch states is all there is", () => {
  const first = "taken >1, applied 1, applied 2, failed 3/1 >3, released >3";
  const second = "taken, applied 2, interrupted 4/2";
  const read = (...epochs: readonly string[]) =>
    foldLedger(ledger(...epochs).map((record) => (record.epoch === 1 ? { ...record, textHash: "old text" } : record)));
  const rebuilt = read(first, `${second}, rebuilt, released`);
  expect([...rebuilt.migrations.values()]).toMatchObject([
    { version: 2, status: "applied", textHash: "text 2" },
    { version: 4, status: "partial", step: 2 },
  ]);
  expect(rebuilt.inDoubt).toEqual(new Set());
  // Killed just before it: nothing is lost, and what was stated is true.
  const before = read(first, second);
  expect([...before.migrations.keys()]).toEqual([1, 2, 3, 4]);
  expect(before.inDoubt).toEqual(new Set([3]));
});

test("what is stated after a ledger was rebuilt counts on top of it", () => {
  const epochs = ["taken, applied 1, rebuilt >2, released >2", "taken, applied 3"];
  expect([...folded(...epochs).migrations.keys()]).toEqual([1, 3]);
  expect(inDoubt(...epochs)).toEqual([2]);
});

test.each([
  { what: "stands after a ledger was rebuilt", second: "taken, rebuilt", epochs: [1], doubt: [2] },
  { what: "is settled by who looked and rebuilt", second: "taken, looked 1, rebuilt", epochs: [], doubt: [] },
])("a late call $what", ({ second, epochs, doubt }) => {
  const state = folded("taken, late 2/1 >2", second);
  const late = epochs.map((epoch) => ({ epoch, version: 2, action: 1, isBack: false }));
  expect([state.late, [...state.inDoubt]]).toEqual([late, doubt]);
});

const wasApplied = "taken, applied 1, released";

test("what is being rolled back is applied no more, and states how far it is rolled back", () => {
  const state = folded(wasApplied, "taken, reverting 1/1:2 >1");
  expect(state.migrations.get(1)).toMatchObject({ status: "applied", step: 3, reversal: { step: 1, total: 2 } });
  expect(appliedIn(state)).toEqual([]);
  expect([isHalfDone(state.migrations.get(1)!), migrationsInDoubt(state, "another")]).toEqual([true, new Set([1])]);
});

test.each([
  { what: "failed before anything was rolled back is applied", end: "failed 1/0:2", left: { reversal: undefined } },
  {
    what: "failed on its way back goes on there",
    end: "failed 1/1:2",
    left: { reversal: { step: 1, detail: "why 1" } },
  },
  {
    what: "nobody knows to have been rolled back stays in between",
    end: "interrupted 1/0:2 >1",
    left: { reversal: { step: 0 } },
  },
])("what $what", ({ end, left }) => {
  const { migrations } = folded(wasApplied, `taken, reverting 1/0:2 >1, ${end}`);
  expect(migrations.get(1)).toMatchObject({ status: "applied", ...left });
});

test("what was rolled back is as if it had never run", () => {
  expect(folded(wasApplied, "taken, reverting 1/0:2 >1, reverted 1/2:2").migrations.get(1)).toBeUndefined();
});

test("nothing is in doubt of what an older holder has rolled back while a newer one was at it", () => {
  const reverting = "taken, reverting 1/0:2 >1";
  expect(migrationsInDoubt(folded(wasApplied, reverting, reverting), "another")).toEqual(new Set([1]));
  const twice = ledger(wasApplied, `${reverting}, reverted 1/2:2`, reverting);
  expect(migrationsInDoubt(foldLedger(twice), "another")).toEqual(new Set());
  // Nor in further epochs of the newer run.
  const further = [...twice, aRecord("4.0", "taken", { run: "run 3", next: 1 }), aRecord("5.0", "taken")];
  expect(migrationsInDoubt(foldLedger(further), "another")).toEqual(new Set());
});

test.each(["failed", "interrupted"])("what %s after an older holder had rolled it back has not begun", (event) => {
  const { migrations, late } = folded(
    wasApplied,
    "taken, reverting 1/0:2 >1, reverted 1/2:2",
    `taken, reverting 1/2:2 >1, ${event} 1/2:2, late 1/1:2`,
  );
  expect([migrations, late.map(({ isBack }) => isBack)]).toEqual([new Map(), [true]]);
});

test("a call that came late while a migration was rolled back is known as one, also when that is done", () => {
  const second = "taken, reverting 1/0:2 >1, late 1/1:2";
  const late = [{ epoch: 2, version: 1, action: 1, isBack: true, midway: undefined }];
  expect(folded(wasApplied, second)).toMatchObject({ late, inDoubt: new Set([1]) });
  const after = folded(wasApplied, second, "taken, reverted 1/2:2");
  expect([after.late, after.inDoubt]).toEqual([late, new Set()]);
});

test("a call of a rollback that a newer run records as late is one of it after the rollback is recorded", () => {
  const { late } = folded(wasApplied, "taken, reverting 1/0:2 >1, reverted 1/2:2", "taken, late 1/1:2");
  expect(late).toMatchObject([{ epoch: 3, isBack: true }]);
});

test("a record that an older holder adds after a ledger was rebuilt does not bring back what it states", () => {
  expect(folded("taken, applied 1", "taken, rebuilt").migrations).toEqual(new Map());
});

test("an epoch that has not stated its lease yet has the longest that was heard of", () => {
  const { holder } = foldLedger([aRecord("1.0", "taken", { lease: 90_000 }), aRecord("2.0", "taken")]);
  expect(holder).toMatchObject({ lease: 90_000 });
});

test.each([
  { known: { name: "widen_ids" }, name: "widen_ids", is: true },
  { known: { name: "widen_ids" }, name: "widen_ids_again", is: false },
  { known: { name: "widen", isNameCut: true as const }, name: "widen_ids", is: true },
  { known: { name: "widen", isNameCut: true as const }, name: "narrow_ids", is: false },
])("whether $known is named $name: $is", ({ known, name, is }) => {
  expect(isNamed(known, name)).toBe(is);
});

test("the versions of a group are recorded as ranges", () => {
  expect(groupEntry([2, 3, 4, 7, 20260101120000]).steps).toEqual(["2-4", "7", "20260101120000"]);
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(), { minLength: 1 }), (versions) => {
      const sorted = versions.toSorted((one, other) => one - other);
      expect(groupOf(aRecord("1.1", "renewed", groupEntry(sorted)))).toEqual(sorted);
    }),
  );
});

test("a holder works on all migrations of its group until they are recorded", () => {
  const seenBy = (run: string, records: string) => {
    const state = folded(records);
    return [[...migrationsInDoubt(state, run)], [...groupInDoubt(state, run)]];
  };
  const begun = "taken >1, group 1 2 3";
  const all = [1, 2, 3];
  expect(seenBy("another", begun)).toEqual([all, all]);
  expect(seenBy("run 1", begun)).toEqual([[], []]);
  const renewed = `${begun}, renewed >1`;
  expect(seenBy("another", renewed)[1]).toEqual(all);
  expect(seenBy("another", `${renewed}, applied 1 >4, applied 2 >4, applied 3 >4`)).toEqual([[4], []]);
});

test("a group stays in doubt until its migrations are recorded, whatever epochs come in between", () => {
  const epochs = ["taken >1, group 1 2 3", "taken >1, group 1 2 3, failed 2/0 >1, released >1"];
  for (const known of [folded(epochs[0]!, "taken >1"), folded(...epochs)]) expect([...known.group]).toEqual([1, 2, 3]);
  const settled = folded(...epochs, "taken >1, applied 1, applied 2, applied 3, released");
  expect(settled).toMatchObject({ group: new Set(), inDoubt: new Set() });
});

test("a group that was released before its first call is in doubt no more", () => {
  const state = folded("taken >1, group 1 2, interrupted 1/0, released");
  expect(state).toMatchObject({ group: new Set(), inDoubt: new Set() });
});

test("a holder that states what it runs overrides a group that an older holder states too late", () => {
  const late = aRecord("1.1", "renewed", groupEntry([2, 3]));
  const taken = ledger("taken >2", "taken >2");
  const alone = aRecord("2.1", "renewed", aloneEntry(2));
  expect(groupOf(alone)).toEqual([]);
  const killed = foldLedger([...taken, late, alone]);
  expect([[...migrationsInDoubt(killed, "another")], [...groupInDoubt(killed, "another")]]).toEqual([[2], []]);
  const applied = [aRecord("2.2", "applied", about(2, 3)), aRecord("2.3", "released")];
  expect(foldLedger([...taken, late, alone, ...applied])).toMatchObject({ inDoubt: new Set(), group: new Set() });
  // Also where the newer holder states nothing before it records a member.
  expect(foldLedger([...taken, late, ...applied])).toMatchObject({ inDoubt: new Set(), group: new Set() });
});

test("a holder that takes a further epoch still has its group", () => {
  const own = { run: "run of both" };
  const begun = [
    aRecord("1.0", "taken", { next: 2, ...own }),
    aRecord("1.1", "renewed", { ...groupEntry([2, 3, 4]), ...own }),
    aRecord("2.0", "taken", { next: 2, ...own }),
  ];
  const failed = [aRecord("2.1", "failed", { ...about(3, 0), next: 2 }), aRecord("2.2", "released", { next: 2 })];
  expect([...foldLedger([...begun, ...failed]).group].toSorted()).toEqual([2, 3, 4]);
  // It has made no call.
  const nothing = [aRecord("2.1", "failed", about(3, 0)), aRecord("2.2", "released")];
  expect(foldLedger([...begun, ...nothing])).toMatchObject({ inDoubt: new Set(), group: new Set() });
});

test("a group that was finished states nothing of later doubts about its members", () => {
  const finished = ["taken >2, group 2 3", "taken >2, group 2 3, applied 2 >3, applied 3, released"];
  const killed = folded(...finished, "taken, reverting 3/0 >3", "taken");
  expect(killed).toMatchObject({ inDoubt: new Set([3]), group: new Set() });
});

test("all late calls of an epoch remain until it was checked", () => {
  const first = "taken >2, late 2/1 >2, late 3/2 >2";
  expect(folded(first).late).toMatchObject([
    { epoch: 1, version: 2, action: 1 },
    { epoch: 1, version: 3, action: 2 },
  ]);
  expect(folded(first, "taken, looked 1").late).toEqual([]);
});

test("what is deferred is what the newest record states of it, also if older releases have added records since", () => {
  const deferral = deferralDetail(["i of t"]);
  const records = [
    aRecord("1.0", "taken"),
    aRecord("1.1", "applied", { ...about(1, 3), detail: deferral }),
    aRecord("1.2", "released"),
    aRecord("2.0", "taken"),
    aRecord("2.1", "failed", { ...about(2, 0), detail: "why" }),
    aRecord("2.2", "released"),
  ];
  expect(foldLedger(records).deferral).toBe(deferral);
  const none = [aRecord("3.0", "taken"), aRecord("3.1", "renewed", { detail: deferralDetail([]) })];
  expect(foldLedger([...records, ...none]).deferral).toBe(deferralDetail([]));
});

const midway = { step: "hash", commit: 1, indexes: {}, metadata: {} };
const isStopped = (...records: readonly LedgerRecord[]) => foldLedger(records).migrations.get(1)?.isStopped === true;
const begins = (epoch: number) => [
  aRecord(`${epoch}.0`, "taken", { next: 1 }),
  aRecord(`${epoch}.1`, "advanced", { ...about(1, 1), midway, next: 1 }),
];
const stops = (place: `${number}.${number}`, event: LedgerEvent = "interrupted") =>
  aRecord(place, event, { ...about(1, 1), next: 1 });

test("a run stopped in an action if it recorded both", () => {
  expect(isStopped(...begins(1))).toBe(false);
  for (const event of ["interrupted", "failed"] as const)
    expect(isStopped(...begins(1), stops("1.2", event))).toBe(true);
});

test("a run that was killed in an action did not stop, whatever becomes of a run that has not reached it", () => {
  const later = [aRecord("2.0", "taken", { next: 1 }), stops("2.1")];
  expect(isStopped(...begins(1), ...later)).toBe(false);
  expect(isStopped(...begins(1), ...later, stops("1.2"))).toBe(true);
});

test("what has stopped in an action stays so until a run is in it again", () => {
  const later = [aRecord("2.0", "taken", { next: 1 }), stops("2.1")];
  expect(isStopped(...begins(1), stops("1.2"), ...later)).toBe(true);
  expect(isStopped(...begins(1), stops("1.2"), ...begins(2))).toBe(false);
  expect(isStopped(...begins(1), stops("1.2"), ...begins(2), stops("2.2"))).toBe(true);
});

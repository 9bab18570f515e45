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

/** What a record says about a migration of three actions. */
function about(version: number, step: number) {
  const hashes = { checksum: `checksum ${version}`, steps: ["a", "b", "c"], textHash: `text ${version}` };
  return { version, name: `m${version}`, step, total: 3, attempt: 1, duration: 7, tables: {}, ...hashes };
}

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

test("a ledger without records has nobody holding it and nothing applied", () => {
  expect(foldLedger([])).toEqual({
    head: undefined,
    epoch: 0,
    holder: undefined,
    migrations: new Map(),
    inDoubt: new Set(),
    group: new Set(),
    late: [],
  });
});

test("a held epoch names its holder, the length of its lease and where it is", () => {
  const renewed = aRecord("2.2", "renewed", { next: 5 });
  const state = foldLedger([
    aRecord("1.0", "taken", { next: 1, lease: 5_000 }),
    aRecord("1.1", "released"),
    aRecord("2.0", "taken", { next: 4, lease: 9_000 }),
    aRecord("2.1", "applied", { ...about(4, 3), next: 5 }),
    renewed,
  ]);
  expect(state.holder).toEqual({ by: "holder 2", run: "run 2", lease: 9_000, next: 5, group: new Set() });
  expect([state.epoch, state.head]).toEqual([2, renewed]);
});

test("an applied migration carries the facts of its record", () => {
  const { migrations } = foldLedger([
    aRecord("1.0", "taken", { next: 1 }),
    aRecord("1.1", "applied", about(1, 3)),
    aRecord("1.2", "released"),
  ]);
  expect([...migrations.values()]).toEqual([
    { ...about(1, 3), status: "applied", order: 1, at: 101, by: "holder 1", detail: undefined },
  ]);
});

test("of a migration of which a record states only that it is under way, nothing is done", () => {
  const { migrations } = foldLedger([aRecord("1.0", "advanced", { version: 1, name: "m1" })]);
  const facts = { step: 0, total: 0, checksum: "", steps: [], textHash: "", attempt: 1, duration: 0, tables: {} };
  expect([...migrations.values()]).toEqual([
    { version: 1, name: "m1", ...facts, status: "partial", order: 0, at: 100, by: "holder 1" },
  ]);
});

test("what is marked as applied counts as applied, and is known not to have run", () => {
  const { migrations } = foldLedger([
    aRecord("1.0", "taken"),
    aRecord("1.1", "baselined", about(1, 3)),
    aRecord("1.2", "released"),
  ]);
  expect([...migrations.values()]).toEqual([
    { ...about(1, 3), status: "applied", order: 1, at: 101, by: "holder 1", isBaselined: true },
  ]);
});

test("what is applied stays applied under a record that a late older holder adds", () => {
  const records = [
    aRecord("1.0", "taken", { next: 1 }),
    aRecord("2.0", "taken", { next: 1 }),
    aRecord("2.1", "applied", about(1, 3)),
    aRecord("2.2", "released"),
  ];
  const late = [aRecord("1.1", "failed", { ...about(1, 1), detail: "too late" }), aRecord("1.2", "released")];
  const { order: _, ...applied } = foldLedger([...records, ...late]).migrations.get(1)!;
  expect(applied).toEqual({ ...about(1, 3), status: "applied", at: 201, by: "holder 2", detail: undefined });
});

test("what an older holder saw applied stays applied under a newer holder's failure", () => {
  const records = [
    aRecord("1.0", "taken", { next: 1 }),
    aRecord("2.0", "taken", { next: 1 }),
    aRecord("2.1", "failed", about(1, 2)),
    aRecord("1.1", "applied", about(1, 3)),
  ];
  expect(foldLedger(records).migrations.get(1)).toMatchObject({ status: "applied", step: 3 });
});

test("how far a migration got is what the newest holder says, not the latest writer", () => {
  const records = [
    aRecord("1.0", "taken", { next: 1 }),
    aRecord("2.0", "taken", { next: 1 }),
    aRecord("2.1", "interrupted", about(1, 2)),
    aRecord("2.2", "released"),
    aRecord("1.1", "failed", { ...about(1, 1), detail: "late" }),
  ];
  expect(foldLedger(records).migrations.get(1)).toMatchObject({ status: "partial", step: 2, detail: undefined });
});

test("a partial migration tells how far it got and why it stopped", () => {
  const { migrations, holder, inDoubt } = foldLedger([
    aRecord("1.0", "taken", { next: 1 }),
    aRecord("1.1", "failed", { ...about(1, 2), detail: "the disk is full" }),
    aRecord("1.2", "released"),
  ]);
  expect(migrations.get(1)).toMatchObject({ status: "partial", step: 2, detail: "the disk is full" });
  expect([holder, inDoubt]).toEqual([undefined, new Set()]);
});

test("a note changes the text's hash and nothing else", () => {
  const applied = [aRecord("1.0", "taken", { next: 1 }), aRecord("1.1", "applied", about(1, 3))];
  const noted = aRecord("1.2", "noted", { ...about(1, 3), textHash: "other text", checksum: "ignored" });
  const known = foldLedger(applied).migrations.get(1)!;
  expect(foldLedger([...applied, noted]).migrations.get(1)).toEqual({ ...known, textHash: "other text" });
});

test("migrations that ran out of order are ordered as they ran", () => {
  const { migrations } = foldLedger([
    aRecord("1.0", "taken", { next: 3 }),
    aRecord("1.1", "applied", { ...about(3, 3), next: 1 }),
    aRecord("1.2", "applied", about(1, 3)),
    aRecord("1.3", "released"),
    aRecord("2.0", "taken", { next: 2 }),
    aRecord("2.1", "noted", { ...about(3, 3), next: 2 }),
    aRecord("2.2", "applied", about(2, 3)),
    aRecord("2.3", "released"),
  ]);
  const asRun = [...migrations.values()].toSorted((one, other) => one.order - other.order);
  expect(asRun.map(({ version }) => version)).toEqual([3, 1, 2]);
});

const died = [aRecord("1.0", "taken", { next: 1 })];

test.each<{ why: string; records: readonly LedgerRecord[]; inDoubt: readonly number[] }>([
  { why: "a holder is still at it", records: died, inDoubt: [] },
  {
    why: "the holder was never heard of again",
    records: [...died, aRecord("2.0", "taken", { next: 1 })],
    inDoubt: [1],
  },
  {
    why: "the holder turned to another migration with a renewal before it died",
    records: [...died, aRecord("1.1", "renewed", { next: 7 }), aRecord("2.0", "taken", { next: 1 })],
    inDoubt: [7],
  },
  {
    why: "the holder died at the next migration",
    records: [...died, aRecord("1.1", "applied", { ...about(1, 3), next: 2 }), aRecord("2.0", "taken", { next: 2 })],
    inDoubt: [2],
  },
  {
    why: "the holder died between the actions of one",
    records: [...died, aRecord("1.1", "advanced", { ...about(1, 2), next: 1 }), aRecord("2.0", "taken", { next: 1 })],
    inDoubt: [1],
  },
  {
    why: "the epoch was released",
    records: [...died, aRecord("1.1", "released"), aRecord("2.0", "taken", { next: 1 })],
    inDoubt: [],
  },
  {
    why: "the epoch was released by one who could not find out",
    records: [
      ...died,
      aRecord("1.1", "failed", about(1, 1)),
      aRecord("1.2", "released", { next: 1 }),
      aRecord("2.0", "taken", { next: 1 }),
    ],
    inDoubt: [1],
  },
  {
    why: "the epoch was released with its failure",
    records: [
      ...died,
      aRecord("1.1", "failed", about(1, 1)),
      aRecord("1.2", "released"),
      aRecord("2.0", "taken", { next: 1 }),
    ],
    inDoubt: [],
  },
  {
    why: "a later epoch took and released without a word about it",
    records: [...died, aRecord("2.0", "taken", { next: 1 }), aRecord("2.1", "released")],
    inDoubt: [1],
  },
  {
    why: "a later epoch spoke of another migration",
    records: [...died, aRecord("2.0", "taken", { next: 2 }), aRecord("2.1", "applied", about(2, 3))],
    inDoubt: [1],
  },
  {
    why: "a later epoch said that it failed",
    records: [...died, aRecord("2.0", "taken", { next: 1 }), aRecord("2.1", "failed", about(1, 0))],
    inDoubt: [],
  },
  {
    why: "a later epoch applied it",
    records: [...died, aRecord("2.0", "taken", { next: 1 }), aRecord("2.1", "applied", about(1, 3))],
    inDoubt: [],
  },
  {
    why: "the taker over died at the same place",
    records: [
      ...died,
      aRecord("2.0", "taken", { next: 1 }),
      aRecord("2.1", "advanced", { ...about(1, 1), next: 1 }),
      aRecord("3.0", "taken", { next: 1 }),
    ],
    inDoubt: [1],
  },
  {
    why: "two holders died at two migrations",
    records: [...died, aRecord("2.0", "taken", { next: 2 }), aRecord("3.0", "taken", { next: 1 })],
    inDoubt: [1, 2],
  },
  {
    why: "the late holder said itself how it ended",
    records: [
      ...died,
      aRecord("2.0", "taken", { next: 1 }),
      aRecord("1.1", "failed", about(1, 0)),
      aRecord("1.2", "released"),
    ],
    inDoubt: [],
  },
  {
    why: "the late holder applied it after another run had taken over and died at it",
    records: [
      ...died,
      aRecord("1.1", "applied", about(1, 3)),
      aRecord("2.0", "taken", { next: 1 }),
      aRecord("3.0", "taken", { next: 2 }),
    ],
    inDoubt: [],
  },
  {
    why: "a run died while it rolled an applied migration back",
    records: [
      ...died,
      aRecord("1.1", "applied", about(1, 3)),
      aRecord("1.2", "released"),
      aRecord("2.0", "taken"),
      aRecord("2.1", "reverting", { ...about(1, 0), next: 1 }),
      aRecord("3.0", "taken", { next: 1 }),
    ],
    inDoubt: [1],
  },
])("what is in doubt when $why: $inDoubt", ({ records, inDoubt }) => {
  expect(foldLedger(records).inDoubt).toEqual(new Set(inDoubt));
});

test("what a holder found in doubt and left so is settled by an older record that it had not read", () => {
  const found = [
    aRecord("1.0", "taken", { next: 1 }),
    aRecord("2.0", "taken"),
    aRecord("2.1", "released", { next: 1 }),
  ];
  const inDoubt = (records: readonly LedgerRecord[]) => [...foldLedger(records).inDoubt];
  expect(inDoubt(found)).toEqual([1]);
  expect(inDoubt([...found, aRecord("1.1", "failed", about(1, 0)), aRecord("1.2", "released")])).toEqual([]);
});

test("what a holder is at is in doubt to everybody but itself", () => {
  const state = foldLedger([...died, aRecord("2.0", "taken", { next: 3 })]);
  expect(migrationsInDoubt(state, "run 2")).toEqual(new Set([1]));
  expect(migrationsInDoubt(state, "another run")).toEqual(new Set([1, 3]));
});

test("a released ledger leaves a reader nothing to doubt", () => {
  const state = foldLedger([...died, aRecord("1.1", "applied", about(1, 3)), aRecord("1.2", "released")]);
  expect(migrationsInDoubt(state, "another run")).toEqual(new Set());
});

const lateCall = { version: 2, name: "m2", step: 1, total: 3, next: 2 };

test("what a rebuilt epoch says is all there is", () => {
  const before = [
    aRecord("1.0", "taken", { next: 1 }),
    aRecord("1.1", "applied", about(1, 3)),
    aRecord("1.2", "applied", { ...about(2, 3), textHash: "old text" }),
    aRecord("1.3", "failed", { ...about(3, 1), next: 3 }),
    aRecord("1.4", "released", { next: 3 }),
    aRecord("2.0", "taken"),
    aRecord("2.1", "applied", about(2, 3)),
    aRecord("2.2", "interrupted", about(4, 2)),
  ];
  const { migrations, inDoubt } = foldLedger([...before, aRecord("2.3", "rebuilt"), aRecord("2.4", "released")]);
  expect([...migrations.values()]).toMatchObject([
    { version: 2, status: "applied", textHash: "text 2" },
    { version: 4, status: "partial", step: 2 },
  ]);
  expect(inDoubt).toEqual(new Set());
  // Killed just before it: nothing is lost, and what was said is true.
  expect([...foldLedger(before).migrations.keys()]).toEqual([1, 2, 3, 4]);
  expect(foldLedger(before).inDoubt).toEqual(new Set([3]));
});

test("what is said after a ledger was rebuilt counts on top of it", () => {
  const records = [
    aRecord("1.0", "taken"),
    aRecord("1.1", "applied", about(1, 3)),
    aRecord("1.2", "rebuilt", { next: 2 }),
    aRecord("1.3", "released", { next: 2 }),
    aRecord("2.0", "taken"),
    aRecord("2.1", "applied", about(3, 3)),
  ];
  const { migrations, inDoubt } = foldLedger(records);
  expect([...migrations.keys()]).toEqual([1, 3]);
  expect(inDoubt).toEqual(new Set([2]));
});

test.each([
  {
    what: "stands after a ledger was rebuilt",
    looked: [],
    late: [{ epoch: 1, version: 2, action: 1, isBack: false }],
    doubt: [2],
  },
  {
    what: "is settled by who looked and rebuilt",
    looked: [aRecord("2.1", "looked", { late: 1 })],
    late: [],
    doubt: [],
  },
])("a late call $what", ({ looked, late, doubt }) => {
  const state = foldLedger([
    aRecord("1.0", "taken"),
    aRecord("1.1", "late", lateCall),
    aRecord("2.0", "taken"),
    ...looked,
    aRecord("2.2", "rebuilt"),
  ]);
  expect([state.late, [...state.inDoubt]]).toEqual([late, doubt]);
});

const wasApplied = [aRecord("1.0", "taken"), aRecord("1.1", "applied", about(1, 3)), aRecord("1.2", "released")];
const back = (step: number, more: Partial<LedgerRecord> = {}) => ({ ...about(1, step), total: 2, ...more });

test("what is being rolled back is applied no more, and says how far it is rolled back", () => {
  const state = foldLedger([...wasApplied, aRecord("2.0", "taken"), aRecord("2.1", "reverting", back(1, { next: 1 }))]);
  expect(state.migrations.get(1)).toMatchObject({ status: "applied", step: 3, reversal: { step: 1, total: 2 } });
  expect(appliedIn(state)).toEqual([]);
  expect([isHalfDone(state.migrations.get(1)!), migrationsInDoubt(state, "another")]).toEqual([true, new Set([1])]);
});

test.each([
  { what: "was rolled back is as if it had never run", end: aRecord("2.2", "reverted", back(2)), left: undefined },
  {
    what: "failed before anything was rolled back is applied",
    end: aRecord("2.2", "failed", back(0)),
    left: { status: "applied", reversal: undefined },
  },
  {
    what: "failed on its way back goes on there",
    end: aRecord("2.2", "failed", back(1, { detail: "a null" })),
    left: { reversal: { step: 1, detail: "a null" } },
  },
  {
    what: "nobody knows to have been rolled back stays in between",
    end: aRecord("2.2", "interrupted", back(0, { next: 1 })),
    left: { reversal: { step: 0 } },
  },
])("what $what", ({ end, left }) => {
  const reverting = [aRecord("2.0", "taken"), aRecord("2.1", "reverting", back(0, { next: 1 }))];
  const known = foldLedger([...wasApplied, ...reverting, end]).migrations.get(1);
  if (left === undefined) expect(known).toBeUndefined();
  else expect(known).toMatchObject(left);
});

/** Two runs roll back the same migration: the older one was suspended. */
const rolledBackTwice = [
  ...wasApplied,
  aRecord("2.0", "taken"),
  aRecord("2.1", "reverting", back(0, { next: 1 })),
  aRecord("3.0", "taken"),
  aRecord("3.1", "reverting", back(0, { next: 1 })),
];

test("nothing is in doubt of what an older holder says to be rolled back while a newer one was at it", () => {
  const records = rolledBackTwice;
  expect(migrationsInDoubt(foldLedger(records), "another")).toEqual(new Set([1]));
  expect(migrationsInDoubt(foldLedger([...records, aRecord("2.2", "reverted", back(2))]), "another")).toEqual(
    new Set(),
  );
});

test("a rollback that an older run has recorded is not in doubt in the further epochs of a newer run", () => {
  const records = [
    ...rolledBackTwice,
    aRecord("4.0", "taken", { run: "run 3", next: 1 }),
    aRecord("2.2", "reverted", back(2)),
  ];
  expect(migrationsInDoubt(foldLedger(records), "another")).toEqual(new Set());
  const afterAnother = [...records, aRecord("5.0", "taken")];
  expect(migrationsInDoubt(foldLedger(afterAnother), "another")).toEqual(new Set());
});

test.each(["failed", "interrupted"] as const)(
  "what %s after an older holder had rolled it back has not begun",
  (event) => {
    const records = [
      ...wasApplied,
      aRecord("2.0", "taken"),
      aRecord("2.1", "reverting", back(0, { next: 1 })),
      aRecord("2.2", "reverted", back(2)),
      aRecord("3.0", "taken"),
      aRecord("3.1", "reverting", back(2, { next: 1 })),
      aRecord("3.2", event, back(2)),
      aRecord("3.3", "late", { version: 1, name: "m1", step: 1, total: 2 }),
    ];
    const { migrations, late } = foldLedger(records);
    expect([migrations, late.map(({ isBack }) => isBack)]).toEqual([new Map(), [true]]);
  },
);

test("a call that came late while a migration was rolled back is known as one, also when that is done", () => {
  const said = { version: 1, name: "m1", step: 1, total: 2 };
  const reverting = [...wasApplied, aRecord("2.0", "taken"), aRecord("2.1", "reverting", back(0, { next: 1 }))];
  const late = [{ epoch: 2, version: 1, action: 1, isBack: true, midway: undefined }];
  expect(foldLedger([...reverting, aRecord("2.2", "late", said)])).toMatchObject({ late, inDoubt: new Set([1]) });
  const done = [aRecord("3.0", "taken"), aRecord("3.1", "reverted", back(2))];
  const after = foldLedger([...reverting, aRecord("2.2", "late", said), ...done]);
  expect([after.late, after.inDoubt]).toEqual([late, new Set()]);
});

test("a call of a rollback that a newer run says came late is one of it after the rollback is recorded", () => {
  const said = { version: 1, name: "m1", step: 1, total: 2 };
  const done = [
    aRecord("2.0", "taken"),
    aRecord("2.1", "reverting", back(0, { next: 1 })),
    aRecord("2.2", "reverted", back(2)),
  ];
  const later = [aRecord("3.0", "taken"), aRecord("3.1", "late", said)];
  expect(foldLedger([...wasApplied, ...done, ...later]).late).toMatchObject([{ epoch: 3, isBack: true }]);
});

test("a record that an older holder adds after a ledger was rebuilt does not bring back what it says", () => {
  const rebuilt = [aRecord("1.0", "taken"), aRecord("2.0", "taken"), aRecord("2.1", "rebuilt")];
  expect(foldLedger([...rebuilt, aRecord("1.1", "applied", about(1, 3))]).migrations).toEqual(new Map());
});

test("an epoch that has not said its lease yet has the longest that was heard of", () => {
  const link = { by: "ann", run: "run a", tool: "test", at: 1, applied: "", previous: "" };
  const state = foldLedger([
    { ...link, epoch: 1, number: 0, event: "taken", lease: 90_000 },
    { ...link, epoch: 1, number: 1, event: "released" },
    { ...link, epoch: 2, number: 0, event: "taken" },
  ]);
  expect(state.holder).toMatchObject({ lease: 90_000 });
});

test.each([
  { known: { name: "widen_ids" }, name: "widen_ids", is: true },
  { known: { name: "widen_ids" }, name: "widen_ids_again", is: false },
  { known: { name: "widen", isNameCut: true as const }, name: "widen_ids", is: true },
  { known: { name: "widen", isNameCut: true as const }, name: "narrow_ids", is: false },
])("whether $known is named $name: $is", ({ known, name, is }) => {
  expect(isNamed(known, name)).toBe(is);
});

const group = (place: `${number}.${number}`, versions: readonly number[]) =>
  aRecord(place, "renewed", groupEntry(versions));

test("the versions of a group are recorded as ranges", () => {
  expect(groupEntry([2, 3, 4, 7, 20260101120000]).steps).toEqual(["2-4", "7", "20260101120000"]);
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(), { minLength: 1 }), (versions) => {
      const sorted = versions.toSorted((one, other) => one - other);
      expect(groupOf(group("1.1", sorted))).toEqual(sorted);
    }),
  );
});

test("a holder works on all migrations of its group until they are recorded", () => {
  const begun = [aRecord("1.0", "taken", { next: 1 }), group("1.1", [1, 2, 3])];
  const seenBy = (run: string, records: readonly LedgerRecord[]) => {
    const state = foldLedger(records);
    return [[...migrationsInDoubt(state, run)], [...groupInDoubt(state, run)]];
  };
  expect(seenBy("another", begun)).toEqual([
    [1, 2, 3],
    [1, 2, 3],
  ]);
  expect(seenBy("run 1", begun)).toEqual([[], []]);
  const renewed = [...begun, aRecord("1.2", "renewed", { next: 1 })];
  expect(seenBy("another", renewed)[1]).toEqual([1, 2, 3]);
  const ended = [
    ...renewed,
    ...[1, 2, 3].map((one) => aRecord(`1.${one + 2}`, "applied", { ...about(one, 3), next: 4 })),
  ];
  expect(seenBy("another", ended)).toEqual([[4], []]);
});

test("a group stays in doubt until its migrations are recorded, whatever epochs come in between", () => {
  const lost = [aRecord("1.0", "taken", { next: 1 }), group("1.1", [1, 2, 3]), aRecord("2.0", "taken", { next: 1 })];
  const released = [...lost, group("2.1", [1, 2, 3]), aRecord("2.2", "failed", { ...about(2, 0), next: 1 })];
  const records = [...released, aRecord("2.3", "released", { next: 1 })];
  for (const known of [lost, records]) expect([...foldLedger(known).group]).toEqual([1, 2, 3]);
  const settled = [1, 2, 3].map((one) => aRecord(`3.${one}`, "applied", about(one, 3)));
  const all = [...records, aRecord("3.0", "taken", { next: 1 }), ...settled, aRecord("3.4", "released")];
  expect(foldLedger(all)).toMatchObject({ group: new Set(), inDoubt: new Set() });
});

test("a group that was released before its first call is in doubt no more", () => {
  const records = [
    aRecord("1.0", "taken", { next: 1 }),
    group("1.1", [1, 2]),
    aRecord("1.2", "interrupted", about(1, 0)),
    aRecord("1.3", "released"),
  ];
  expect(foldLedger(records)).toMatchObject({ group: new Set(), inDoubt: new Set() });
});

test("a holder that states what it runs overrides a group that an older holder states too late", () => {
  const late = group("1.1", [2, 3]);
  const taken = [aRecord("1.0", "taken", { next: 2 }), aRecord("2.0", "taken", { next: 2 })];
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
    { ...group("1.1", [2, 3, 4]), ...own },
    aRecord("2.0", "taken", { next: 2, ...own }),
  ];
  const failed = [aRecord("2.1", "failed", { ...about(3, 0), next: 2 }), aRecord("2.2", "released", { next: 2 })];
  expect([...foldLedger([...begun, ...failed]).group].toSorted()).toEqual([2, 3, 4]);
  // It has made no call.
  const nothing = [aRecord("2.1", "failed", about(3, 0)), aRecord("2.2", "released")];
  expect(foldLedger([...begun, ...nothing])).toMatchObject({ inDoubt: new Set(), group: new Set() });
});

test("a group that was finished says nothing of later doubts about its members", () => {
  const finished = [
    aRecord("1.0", "taken", { next: 2 }),
    group("1.1", [2, 3]),
    aRecord("2.0", "taken", { next: 2 }),
    group("2.1", [2, 3]),
    aRecord("2.2", "applied", { ...about(2, 3), next: 3 }),
    aRecord("2.3", "applied", about(3, 3)),
    aRecord("2.4", "released"),
  ];
  const killed = [
    aRecord("3.0", "taken"),
    aRecord("3.1", "reverting", { ...about(3, 0), next: 3 }),
    aRecord("4.0", "taken"),
  ];
  expect(foldLedger([...finished, ...killed])).toMatchObject({ inDoubt: new Set([3]), group: new Set() });
});

test("all late calls of an epoch remain until it was checked", () => {
  const records = [
    aRecord("1.0", "taken", { next: 2 }),
    aRecord("1.1", "late", { version: 2, name: "m2", step: 1, total: 3, next: 2 }),
    aRecord("1.2", "late", { version: 3, name: "m3", step: 2, total: 3, next: 2 }),
  ];
  expect(foldLedger(records).late).toMatchObject([
    { epoch: 1, version: 2, action: 1 },
    { epoch: 1, version: 3, action: 2 },
  ]);
  expect(foldLedger([...records, aRecord("2.0", "taken"), aRecord("2.1", "looked", { late: 1 })]).late).toEqual([]);
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

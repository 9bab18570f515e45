import * as fc from "../../../support/fast-check.ts";
import { expect, test } from "vitest";
import { isMigrateError, MigrateError } from "../../../../src/errors/migrate-error.ts";
import { auditLedger } from "../../../../src/ledger/audit/audit.ts";
import { recordChain, type Runner } from "../../../../src/ledger/lease/record-chain.ts";
import { systemClock } from "../../../../src/time/clock.ts";
import { foldLedger } from "../../../../src/ledger/state/fold.ts";
import type { Journal } from "../../../../src/ledger/journal/journal.ts";
import { takeLease } from "../../../../src/ledger/lease/lease.ts";
import { markerName, parseMarkerName } from "../../../../src/ledger/journal/marker-name.ts";
import { markersJournal } from "../../../../src/ledger/journal/markers-journal.ts";
import { byPlace, type LedgerEntry, type LedgerRecord } from "../../../../src/ledger/state/record.ts";
import { sleepingClock } from "../../../support/clocks.ts";
import { ledgerColumns } from "../../../../src/ledger/journal/rows-journal.ts";
import type { CreateMarker } from "../../../../src/targets/contract/ledger-store.ts";

const ledger = "_migrations";

/** Errors here are lost answers, and nobody has to wait. */
const patient = {
  verdict: (error: unknown) => ({ kind: isMigrateError(error) ? "refused" : "unanswered" }) as const,
  clock: { sleep: async () => {}, random: () => 0.5 },
};
const ann: Runner = { by: "ann", run: "run a", tool: "test" };
const bob: Runner = { by: "bob", run: "run b", tool: "test" };
const clock = { ...systemClock, wall: () => 1_750_000_000_000 };

/**
 * What becomes of one create: it is done and answered; its answer is lost before or after it is done; or it is done just
 * before the next one, long after nobody listens any more.
 */
type Fate = "well" | "lost before" | "lost after" | "late";

/** The tables of a service that can only list and create them. */
function aService(...tables: readonly string[]) {
  const names = [...tables];
  const rows = new Map<string, unknown>();
  const sent: string[] = [];
  let pending: (() => void) | undefined;
  const make = (name: string, row: unknown): boolean => {
    if (names.includes(name)) return false;
    names.push(name);
    rows.set(name, row);
    return true;
  };
  return {
    names,
    rows,
    sent,
    journal(fates: readonly Fate[] = []): Journal {
      const left = [...fates];
      const create: CreateMarker = async (name, columns, row) => {
        expect(columns).toEqual(ledgerColumns);
        sent.push(name);
        pending?.();
        pending = undefined;
        const fate = left.shift() ?? "well";
        if (fate === "late") pending = () => make(name, row);
        if (fate === "late" || fate === "lost before") throw new Error("connection reset");
        const made = make(name, row);
        if (fate === "lost after") throw new Error("connection reset");
        return made;
      };
      return markersJournal(ledger, { names: async () => [...names], create, ...patient });
    },
  };
}

function taken(epoch: number, { by, run, tool }: Runner): LedgerRecord {
  return { epoch, number: 0, event: "taken", lease: 30_000, by, run, tool, at: 1, applied: "aa", previous: "" };
}

function aRecord(epoch: number, number: number, more: Partial<LedgerRecord> = {}): LedgerRecord {
  return { epoch, number, event: "renewed", ...ann, at: 1, applied: "aa", previous: "bb", ...more };
}

async function places(journal: Journal): Promise<readonly string[]> {
  const records = (await journal.read()).toSorted(byPlace);
  return records.map(({ epoch, number, event, run }) => `${epoch}.${number} ${event} by ${run}`);
}

test("of many that take an epoch at once exactly one is told that it won", async () => {
  const service = aService();
  const told = await Promise.all(
    [1, 2, 3, 4, 5].map((n) => service.journal().take(taken(1, { ...ann, run: `run ${n}` }))),
  );
  expect(told.toSorted()).toEqual([false, false, false, false, true]);
  expect(service.names).toEqual(["_migrations.e1"]);
});

test("an epoch that is taken can't be taken again, and the next one can", async () => {
  const service = aService();
  await service.journal().take(taken(1, ann));
  const other = service.journal();
  expect([await other.take(taken(1, bob)), await other.take(taken(2, bob))]).toEqual([false, true]);
});

test.each<[string, readonly Fate[], boolean]>([
  ["that was lost before it was done is asked for again, and won", ["lost before", "well"], true],
  ["whose answer was lost is somebody else's", ["lost after"], false],
  ["that is done between two tries is somebody else's", ["late", "well"], false],
  ["that is lost twice and then answered is won", ["lost before", "lost before", "well"], true],
  [
    "that is lost, asked for again, and whose answer is lost then is somebody else's",
    ["lost before", "lost after"],
    false,
  ],
])("an epoch %s", async (_, fates, won) => {
  const service = aService();
  const journal = service.journal(fates);
  expect(await journal.take(taken(1, ann))).toBe(won);
  expect(service.names).toEqual(["_migrations.e1"]);
  expect(await places(journal)).toEqual([`1.0 taken by ${won ? "run a" : "epoch 1"}`]);
});

test("an epoch whose answer was lost is no lease: it must be waited out", async () => {
  const service = aService();
  const journal = service.journal(["lost after"]);
  const state = foldLedger(await journal.read());
  expect(await takeLease(journal, state, ann, 1, { duration: 30_000, clock })).toBeUndefined();
  expect(foldLedger(await journal.read()).holder).toEqual({
    by: "another run",
    run: "epoch 1",
    lease: 0,
    next: undefined,
    group: new Set(),
  });
});

test("however answers are lost, never are two told that they took one epoch", async () => {
  const fates = fc.array(fc.constantFrom<Fate>("well", "lost before", "lost after", "late"), { maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(fc.array(fates, { minLength: 2, maxLength: 4 }), async (runs) => {
      const service = aService();
      const takes = runs.map((own, n) => service.journal(own).take(taken(1, { ...ann, run: `run ${n}` })));
      const told = (await Promise.allSettled(takes)).map((one) => one.status === "fulfilled" && one.value);
      expect(told.filter(Boolean).length).toBeLessThanOrEqual(1);
      expect(service.names).toEqual(["_migrations.e1"]);
    }),
  );
});

test("records whose answers are lost are added once, in their order", async () => {
  const fate = fc.constantFrom<Fate>("well", "lost before", "lost after", "late");
  // Three failures in a row at most: the fourth try of a record is its last.
  const fates = fc.array(fate, { maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(fates, fc.integer({ min: 1, max: 4 }), async (given, count) => {
      const service = aService("_migrations.e1");
      const records = Array.from({ length: count }, (_, index) => aRecord(1, index + 1));
      const journal = service.journal(given);
      await journal.add(records);
      expect(await places(journal)).toEqual([
        "1.0 taken by epoch 1",
        ...records.map(({ number }) => `1.${number} renewed by run a`),
      ]);
      const markers = service.names.slice(1);
      expect(new Set(markers).size).toBe(count);
      expect(markers.map((name) => parseMarkerName(ledger, name)?.number)).toEqual(records.map(({ number }) => number));
    }),
  );
});

test("a record that is in the list after its answer was lost is not sent again", async () => {
  for (const fates of [["lost after"], ["lost before", "lost before", "lost after"]] satisfies Fate[][]) {
    const service = aService("_migrations.e1");
    await service.journal(fates).add([aRecord(1, 1)]);
    expect(service.sent).toHaveLength(fates.length);
  }
});

test.each(["throttled", "unanswered"] as const)(
  "where each fourth request is %s, a record is added: the list is not read after each failed create",
  async (kind) => {
    // After a list of three pages, each create would fail again.
    let turn = 3;
    const made: string[] = [];
    const request = () => {
      if (++turn % 4 === 0) throw new Error("busy");
    };
    const journal = markersJournal(ledger, {
      names: async () => {
        for (let page = 0; page < 3; page++) request();
        return made;
      },
      create: async (name) => {
        request();
        made.push(name);
        return true;
      },
      verdict: () => ({ kind }),
      clock: patient.clock,
    });
    expect(await journal.take(taken(1, ann))).toBe(true);
    expect(made).toEqual(["_migrations.e1"]);
  },
);

test("the first record that can't be added stops those after it", async () => {
  const service = aService("_migrations.e1");
  const lost: readonly Fate[] = Array(8).fill("lost before");
  const adding = service.journal(["well", ...lost]).add([aRecord(1, 1), aRecord(1, 2), aRecord(1, 3)]);
  await expect(adding).rejects.toMatchObject({
    code: "ERR_LEDGER_UNWRITABLE",
    details: { ledger, problem: "connection reset" },
  });
  expect(service.names).toHaveLength(2);
  expect(service.sent).toHaveLength(9);
});

test("an error that says itself what is wrong with the target comes through as it is", async () => {
  const error = new MigrateError("ERR_CREDENTIALS", {
    target: "t",
    request: "POST /v1/tables/x",
    status: 403,
    problem: "no",
  });
  const journal = markersJournal(ledger, { names: async () => [], create: () => Promise.reject(error), ...patient });
  await expect(journal.take(taken(1, ann))).rejects.toBe(error);
});

test("a run knows the epochs again that it was told are its own, and no others", async () => {
  const service = aService();
  const [mine, yours] = [service.journal(), service.journal()];
  await mine.take(taken(1, ann));
  await mine.add([aRecord(1, 1)]);
  await yours.take(taken(2, bob));
  await yours.add([aRecord(2, 1, bob)]);
  expect(await places(mine)).toEqual([
    "1.0 taken by run a",
    "1.1 renewed by run a",
    "2.0 taken by epoch 2",
    "2.1 renewed by epoch 2",
  ]);
  expect(foldLedger(await yours.read()).holder).toMatchObject({ by: "bob", run: "run b" });
  expect(await service.journal().head()).toMatchObject({ by: "another run", epoch: 2, number: 1 });
});

test("a marker's row says for people who wrote it and why", async () => {
  const service = aService("_migrations.e1");
  await service.journal().add([aRecord(1, 1, { event: "failed", version: 3, name: "m", detail: "no space left" })]);
  expect([...service.rows.values()]).toMatchObject([{ key: "1.1", by: "ann", run: "run a", detail: "no space left" }]);
});

test("other tables are no part of the ledger", async () => {
  const service = aService("documents", "_migrations2.e4", "_migrations.extra", "_migrations.e9.1");
  const journal = service.journal();
  expect([await journal.head(), await journal.read()]).toEqual([undefined, []]);
  await journal.take(taken(1, ann));
  expect(await places(service.journal())).toEqual(["1.0 taken by epoch 1"]);
});

test("a table of the ledger's name is the ledger of another dialect, and nothing is taken for pending", async () => {
  await expect(aService("_migrations").journal().read()).rejects.toMatchObject({
    code: "ERR_LEDGER_UNREADABLE",
    message: expect.stringContaining("as the dialect namespace keeps it"),
  });
});

test("the newest record is that of the highest epoch and number, in whatever order tables are listed", async () => {
  const names = [
    "_migrations.e2",
    "_migrations.e1",
    "_migrations.e10",
    "_migrations.e10.10.renewed.w1",
    "_migrations.e10.9.released.w1",
  ];
  const heads = [names, names.toReversed()].map((some) =>
    aService(...some)
      .journal()
      .head(),
  );
  for (const head of await Promise.all(heads)) expect(head).toMatchObject({ epoch: 10, number: 10 });
});

const late = aRecord(1, 2, { event: "late", version: 1, name: "m", step: 1, total: 2, next: 1 });
const looked = aRecord(3, 1, { event: "looked", late: 1 });

test.each<[string, readonly LedgerRecord[], string]>([
  ["says what is applied when no call was late", [], "aa"],
  ["does not say what is applied after a late call", [late], ""],
  ["says what is applied once somebody has looked", [late, looked], "aa"],
  ["does not when that look was for another epoch's call", [late, { ...looked, late: 2 }], ""],
  ["does not when another epoch's call was late too", [late, { ...late, epoch: 2 }, looked], ""],
])("the newest record %s", async (_, records, applied) => {
  const service = aService("_migrations.e1", "_migrations.e2", "_migrations.e3");
  const journal = service.journal();
  await journal.add([...records, aRecord(3, 9, { event: "released" })]);
  expect(await journal.head()).toMatchObject({ epoch: 3, number: 9, applied });
});

/** A run that takes the next epoch and writes these. */
async function anEpoch(journal: Journal, runner: Runner, entries: readonly LedgerEntry[]): Promise<void> {
  const chain = recordChain(foldLedger(await journal.read()), runner, clock, journal.hashOf);
  const record = chain.begin({ event: "taken", next: 1, lease: 30_000 });
  expect(await journal.take(record)).toBe(true);
  chain.began(record);
  for (const entry of entries) await chain.write([entry], (records) => journal.add(records));
}

test("each marker carries the hash of the one before it as everybody reads it", async () => {
  const service = aService();
  const facts = {
    version: 3,
    name: "n".repeat(240),
    step: 1,
    total: 1,
    checksum: "c".repeat(64),
    textHash: "d".repeat(64),
  };
  const mine = service.journal(["lost before", "well", "well", "lost after", "late"]);
  await anEpoch(mine, ann, [
    { event: "renewed", next: 3, lease: 30_000 },
    { event: "applied", ...facts },
    { event: "released" },
  ]);
  await anEpoch(mine, ann, [{ event: "failed", ...facts, version: 4, detail: "for people" }]);
  await anEpoch(service.journal(), bob, [{ event: "released" }]);
  const records = (await service.journal().read()).toSorted(byPlace);
  expect(records).toHaveLength(8);
  // A marker that takes an epoch says nothing, so who follows it refers to the one before.
  const links = records.filter(({ event }) => event !== "taken");
  expect(links.map(({ previous }) => previous)).toEqual([
    "",
    ...links.slice(0, -1).map((record) => mine.hashOf(record).slice(0, 16)),
  ]);
  expect(new Set(links.map(({ previous }) => previous)).size).toBe(links.length);
});

test("of runs that a service lets take the same epoch at once, at most one holds it, at the first and at a later one", async () => {
  for (const before of [[], ["_migrations.e1", "_migrations.e1.1.released.w1"]]) {
    const names = new Set(before);
    // It overwrites a table of the same name.
    const create: CreateMarker = async (name) => names.add(name).size > 0;
    const journal = () => markersJournal(ledger, { names: async () => [...names], create, ...patient });
    const run = async (index: number) => {
      const own = journal();
      const terms = { duration: 1_000, clock: sleepingClock() };
      const lease = await takeLease(
        own,
        foldLedger(await own.read()),
        { ...ann, run: `run ${index}` },
        undefined,
        terms,
      );
      lease?.abandon();
      return lease !== undefined;
    };
    const told = await Promise.allSettled(Array.from({ length: 5 }, (_, index) => run(index)));
    const refused = told.filter(({ status }) => status === "rejected") as PromiseRejectedResult[];
    expect(told.filter((one) => one.status === "fulfilled" && one.value).length).toBeLessThan(2);
    expect(refused.length).toBeGreaterThan(0);
    for (const { reason } of refused)
      expect(reason).toMatchObject({ code: "ERR_TARGET_UNFIT", message: expect.stringContaining("second create") });
  }
});

const applied = (version: number): LedgerEntry => ({
  event: "applied",
  version,
  name: `m${version}`,
  step: 1,
  total: 1,
  checksum: "c".repeat(64),
  textHash: `${version}`.repeat(64),
});

/** Two epochs, of which each has applied two migrations and was released. */
async function twoEpochs() {
  const service = aService();
  await anEpoch(service.journal(), ann, [applied(1), applied(2), { event: "released" }]);
  await anEpoch(service.journal(), bob, [applied(3), applied(4), { event: "released" }]);
  return service;
}

const findingsIn = async (journal: Journal) =>
  auditLedger(await journal.read(), journal.hashOf).map(({ sentence }) => sentence);

test("what a torn list lacked when an epoch was taken is not missing from what the ledger goes on from", async () => {
  const whole = await (await twoEpochs()).journal().read();
  for (const lacking of whole) {
    const service = await twoEpochs();
    const torn = foldLedger(whole.filter((one) => byPlace(one, lacking) !== 0));
    const state = { ...torn, epoch: 2 };
    const lease = await takeLease(service.journal(), state, ann, 5, { duration: 30_000, clock });
    await lease!.release([applied(5)]);
    const found = await findingsIn(service.journal());
    expect({ lacking: `${lacking.epoch}.${lacking.number}`, found }).toEqual({
      lacking: `${lacking.epoch}.${lacking.number}`,
      found: [],
    });
  }
});

/** A journal whose n-th list, counted from 1, lacks this marker. */
function tornAt(names: readonly string[], lists: readonly number[], lacking: string): Journal {
  let asked = 0;
  return markersJournal(ledger, {
    names: async () => (lists.includes(++asked) ? names.filter((name) => name !== lacking) : names),
    create: async () => true,
    ...patient,
  });
}

test("a list that contradicts itself is read again", async () => {
  const { names } = await twoEpochs();
  for (const lacking of names.filter((name) => name.includes(".applied."))) {
    expect(await tornAt(names, [1], lacking).read()).toHaveLength(names.length);
    // What is gone for good is gone.
    expect(await tornAt(names, [1, 2, 3], lacking).read()).toHaveLength(names.length - 1);
  }
});

test("a list without a marker that an earlier list had is read again, and refused where that does not help", async () => {
  const { names } = await twoEpochs();
  for (const lacking of names) {
    const torn = tornAt(names, [2], lacking);
    await torn.read();
    expect(await torn.read()).toHaveLength(names.length);
    const gone = tornAt(names, [2, 3, 4, 5, 6, 7], lacking);
    await gone.read();
    await expect(gone.isNewest({ epoch: 2, number: 3 })).rejects.toMatchObject({
      code: "ERR_LEDGER_UNREADABLE",
      message: expect.stringContaining(`lacks ${lacking}`),
    });
  }
});

test("a list without a marker that was just created is not believed", async () => {
  const service = await twoEpochs();
  const epoch3 = "_migrations.e3";
  const journal = tornAt([...service.names, epoch3], [1, 2], epoch3);
  expect(await journal.take(taken(3, ann))).toBe(true);
  expect((await journal.read()).some(({ epoch }) => epoch === 3)).toBe(true);
});

test("the newest record is the one that folding the whole ledger gives", async () => {
  const events = ["renewed", "advanced", "applied", "reverting", "reverted", "failed", "late", "looked", "released"];
  const small = fc.integer({ min: 1, max: 3 });
  const drawn = fc.record({
    epoch: small,
    number: fc.integer({ min: 1, max: 4 }),
    event: fc.constantFrom(...(events as LedgerEntry["event"][]), "released" as const),
    version: small,
    lease: fc.option(small, { nil: undefined }),
    next: fc.option(small, { nil: undefined }),
    late: fc.option(small, { nil: undefined }),
    applied: fc.constantFrom("aa", "bb"),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(drawn, { maxLength: 12 }), fc.subarray([1, 2, 3]), async (entries, epochs) => {
      const facts = { name: "m", step: 1, total: 2 };
      const markers = entries.map((entry) =>
        markerName(ledger, aRecord(entry.epoch, entry.number, { ...facts, ...entry })),
      );
      const names = [...new Set([...markers, ...epochs.map((epoch) => `${ledger}.e${epoch}`), "documents"])];
      const records = names.flatMap((name) => parseMarkerName(ledger, name) ?? []);
      const { head, holder, late } = foldLedger(records);
      const expected = head && { ...head, ...(late.length > 0 && { applied: "" }), lease: holder?.lease };
      expect(
        await aService(...names)
          .journal()
          .head(),
      ).toEqual(expected);
    }),
    { numRuns: 500 },
  );
});

import * as fc from "../../../support/fast-check.ts";
import { expect, test } from "vitest";
import { auditLedger } from "../../../../src/ledger/audit/audit.ts";
import { markerName, parseMarkerName } from "../../../../src/ledger/journal/marker-name.ts";
import { recordIdText, type LedgerRecord } from "../../../../src/ledger/state/record.ts";
import { aHistory, ledger, type History, type Kind } from "../../../support/histories.ts";
import { casesInTurn, rounds } from "../../../support/rounds.ts";

const inTurn = casesInTurn();

const audit = (records: readonly LedgerRecord[], { hashOf }: History) => auditLedger(records, hashOf);
const kinds: readonly Kind[] = ["rows", "markers"];

/** A record as everyone reads it after a change: of a marker, what its name can hold. */
function asRead(kind: Kind, record: LedgerRecord): LedgerRecord {
  return kind === "rows" ? record : parseMarkerName(ledger, markerName(ledger, record))!;
}

/** Whether some record refers to this one. What nothing refers to is the newest, came late, or was not known to be stored. */
function isReferred(record: LedgerRecord, { records, hashOf }: History): boolean {
  const hash = hashOf(record);
  return hash !== "" && records.some(({ previous }) => previous !== "" && hash.startsWith(previous));
}

const same = (one: LedgerRecord, other: LedgerRecord) =>
  JSON.stringify(one, Object.keys(one).toSorted()) === JSON.stringify(other, Object.keys(one).toSorted());

async function checkEach(
  kind: Kind,
  check: (history: History, pick: (most: number) => number) => void,
  numRuns = rounds(30, 200),
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(aHistory(kind), fc.infiniteStream(fc.nat()), async (coming, numbers) => {
      const stream = numbers[Symbol.iterator]();
      check(await coming(), (most) => stream.next().value! % most);
    }),
    { numRuns },
  );
}

test.each(inTurn(kinds))(
  "nothing is wrong with a ledger that the tool has written, whatever happened (%s)",
  async (kind) => {
    await checkEach(kind, (history) => expect(audit(history.records, history)).toEqual([]), rounds(75, 1_000));
  },
);

test.each(inTurn(kinds))("a record that something refers to can't be missing (%s)", async (kind) => {
  await checkEach(kind, (history) => {
    for (const gone of history.records) {
      const left = history.records.filter((record) => record !== gone);
      const found = audit(left, history);
      const follows = left.some(({ epoch, number }) => epoch > gone.epoch || (epoch === gone.epoch && number > 0));
      const needed = kind === "markers" && gone.event === "taken" ? follows : isReferred(gone, history);
      if (needed) expect({ gone: recordIdText(gone), found }).not.toEqual({ gone: recordIdText(gone), found: [] });
    }
  });
});

/** Another value of a field: what somebody may write there. */
function otherValue(value: unknown): unknown {
  if (typeof value === "number") return value + 1;
  if (typeof value === "string") return /^[0-9a-f]{16,}$/.test(value) ? "e".repeat(value.length) : `${value}x`;
  return undefined;
}

test.each(inTurn(kinds))("no field of a record that something refers to can be changed (%s)", async (kind) => {
  await checkEach(kind, (history, pick) => {
    for (const record of history.records) {
      const keys = Object.keys(record) as (keyof LedgerRecord)[];
      for (const key of ["applied" as const, keys[pick(keys.length)]!, keys[pick(keys.length)]!]) {
        const changed = asRead(kind, { ...record, [key]: otherValue(record[key]) });
        if (same(record, changed) || !isReferred(record, history)) continue;
        const found = audit(
          history.records.map((one) => (one === record ? changed : one)),
          history,
        );
        expect({ key, place: recordIdText(record), found: found.length }).not.toMatchObject({ found: 0 });
      }
    }
  });
});

test.each(inTurn(kinds))(
  "of what nothing refers to, its reference can't be changed, nor the newest word on what is applied (%s)",
  async (kind) => {
    await checkEach(kind, (history) => {
      const newest = history.records.findLast(({ applied }) => applied !== "");
      for (const record of history.records)
        for (const key of ["previous", "applied", "event"] as const) {
          if (record[key] === "" || record.event === "taken" || (key === "applied" && record !== newest)) continue;
          const changed = asRead(kind, {
            ...record,
            [key]: key === "event" ? "renwed" : otherValue(record[key]),
          } as LedgerRecord);
          const found = audit(
            history.records.map((one) => (one === record ? changed : one)),
            history,
          );
          expect({ key, place: recordIdText(record), found: found.length }).not.toMatchObject({ found: 0 });
        }
    });
  },
);

test("no record can be there twice", async () => {
  await checkEach("rows", (history, pick) => {
    const twin = history.records[pick(history.records.length)]!;
    const found = audit([...history.records, twin], history);
    expect(found).toContainEqual(expect.objectContaining({ kind: "twice", place: recordIdText(twin) }));
  });
});

test.each(inTurn(kinds))("no two records can change places (%s)", async (kind) => {
  await checkEach(kind, (history, pick) => {
    const [one, other] = [pick(history.records.length), pick(history.records.length)].map((at) => history.records[at]!);
    const moved = (record: LedgerRecord, { epoch, number }: LedgerRecord) => asRead(kind, { ...record, epoch, number });
    if (one === other || !(isReferred(one!, history) || isReferred(other!, history))) return;
    const swapped = history.records.map((record) =>
      record === one ? moved(one, other!) : record === other ? moved(other, one!) : record,
    );
    expect(audit(swapped, history)).not.toEqual([]);
  });
});

test.each(inTurn(kinds))("no copy of a record but a renewal can be put anywhere else (%s)", async (kind) => {
  let tried = 0;
  await checkEach(kind, (history, pick) => {
    const { records } = history;
    const places = new Set(records.map(recordIdText));
    const last = records.at(-1)!.epoch;
    for (let times = 0; times < 20; times++) {
      const copied = records[pick(records.length)]!;
      const number = pick(12);
      const epoch = 1 + pick(last + (number === 0 ? 1 : 0));
      const before = records.find((one) => copied.previous !== "" && history.hashOf(one).startsWith(copied.previous));
      // Of markers, what came late and the first of an epoch look the same at the end of the epoch before.
      const cameLate = records.some(({ epoch, previous }) => epoch > copied.epoch && previous === copied.previous);
      const loose = kind === "markers" && (!isReferred(copied, history) || cameLate || before?.epoch !== copied.epoch);
      const first = !records.some((one) => one.epoch === epoch && one.number > 0 && one.number < number);
      // A lost renewal looks the same; and the name that takes an epoch, and the first after it, anyone can make.
      if (copied.event === "renewed" || (kind === "markers" && (first || copied.event === "taken"))) continue;
      if (loose || places.has(`${epoch}.${number}`)) continue;
      tried++;
      const copy = asRead(kind, { ...copied, epoch, number });
      const found = audit([...records, copy], history);
      expect({ copied: recordIdText(copied), to: recordIdText(copy), found }).not.toMatchObject({ found: [] });
    }
  });
  expect(tried).toBeGreaterThan(rounds(60, 200));
});

test("what is wrong with the records before a ledger was rebuilt is known, and what is wrong after is not", async () => {
  let [before, after] = [0, 0];
  await checkEach("rows", (history) => {
    const since = history.records.findLast(({ event }) => event === "rebuilt")?.epoch;
    if (since === undefined) return;
    for (const record of history.records.filter((one) => isReferred(one, history))) {
      const changed = { ...record, by: "somebody else" };
      const found = audit(
        history.records.map((one) => (one === record ? changed : one)),
        history,
      );
      expect(found).not.toEqual([]);
      expect(found.every(({ known }) => known)).toBe(record.epoch < since);
      if (record.epoch < since) before++;
      else after++;
    }
  });
  expect(Math.min(before, after)).toBeGreaterThan(rounds(30, 100));
});

/** The same ones for all tests. */
const drawn = new Map<Kind, readonly (() => Promise<History>)[]>();

/** The first history that has what is wanted. */
async function aHistoryWith(kind: Kind, wanted: (history: History) => boolean): Promise<History> {
  if (!drawn.has(kind)) drawn.set(kind, fc.sample(aHistory(kind), { numRuns: 2_000, seed: 8 }));
  for (const coming of drawn.get(kind)!) {
    const history = await coming();
    if (wanted(history)) return history;
  }
  throw new Error("there is none");
}

test("a reference that agrees with a hash only in its beginning leads nowhere", async () => {
  const { records, hashOf } = await aHistoryWith("rows", (one) => five(one) && !isReferred(one.records.at(-1)!, one));
  const last = records.at(-1)!;
  const changed = { ...last, previous: `${last.previous.slice(0, 16)}${"e".repeat(48)}` };
  expect(auditLedger(records.with(records.length - 1, changed), hashOf)).not.toEqual([]);
});

test("what other records refer to is not blamed for a reference that leads nowhere", async () => {
  let found: readonly [index: number, history: History] | undefined;
  await aHistoryWith("rows", (history) => {
    const index = history.records.findIndex((record, at) => {
      const before = history.records[at - 1];
      if (before === undefined || record.epoch !== before.epoch || record.number !== before.number + 1) return false;
      const others = history.records.filter((other) => other !== record);
      return isReferred(before, { ...history, records: others }) && !isReferred(record, history);
    });
    if (index !== -1) found = [index, history];
    return index !== -1;
  });
  const [index, history] = found!;
  const place = recordIdText(history.records[index]!);
  const changed = { ...history.records[index]!, previous: "e".repeat(64) };
  expect(audit(history.records.with(index, changed), history)).toContainEqual({
    kind: "changed",
    place,
    sentence: `${place} was changed: ${place} follows a record that is not there`,
    known: false,
  });
});

test("where the chain is broken nothing is said of what the newest record says is applied", async () => {
  let tried = 0;
  await checkEach("rows", (history) => {
    const since = history.records.findLast(({ event }) => event === "rebuilt")?.epoch;
    const newest = history.records.findLast(({ applied }) => applied !== "");
    const broken = history.records.find((one) => one.epoch === since && one !== newest && isReferred(one, history));
    if (broken === undefined) return;
    tried++;
    const changed = history.records.map((one) =>
      one === broken ? { ...one, by: "somebody else" } : one === newest ? { ...one, applied: "e".repeat(64) } : one,
    );
    const kinds = audit(changed, history).map(({ kind }) => kind);
    expect(kinds).not.toContain("applied");
    expect(kinds).not.toEqual([]);
  });
  expect(tried).toBeGreaterThan(rounds(3, 10));
});

/** Five records of one epoch in a row, of which the third is there too. */
const five = ({ records }: History) =>
  records.length >= 6 && records.slice(0, 5).every(({ epoch, number }, index) => epoch === 1 && number === index);

test.each([
  {
    what: "missing",
    change: (records: readonly LedgerRecord[]) => records.toSpliced(3, 1),
    finding: {
      kind: "missing",
      place: "1.3",
      sentence: "1.3 is missing, or 1.2 was changed: 1.4 follows a record that is not there",
    },
  },
  {
    what: "changed",
    change: (records: readonly LedgerRecord[]) => records.with(3, { ...records[3]!, at: 0 }),
    finding: { kind: "changed", place: "1.3", sentence: "1.3 was changed: 1.4 follows a record that is not there" },
  },
  {
    what: "led astray",
    change: (records: readonly LedgerRecord[]) => records.with(3, { ...records[3]!, previous: "e".repeat(64) }),
    finding: { kind: "changed", place: "1.3", sentence: "1.3 was changed: 1.4 follows a record that is not there" },
  },
  {
    what: "the one that takes an epoch, and missing,",
    change: (records: readonly LedgerRecord[]) => records.toSpliced(0, 1),
    finding: { kind: "missing", place: "1.0", sentence: "1.0, which takes the epoch, is missing" },
  },
  {
    what: "of an event that nobody knows, and changed,",
    change: (records: readonly LedgerRecord[]) => records.with(3, { ...records[3]!, event: "done" as "applied" }),
    finding: { kind: "senseless", place: "1.3", sentence: `1.3 states "done", which is no event` },
  },
])("a record that is $what is named, and nothing else", async ({ change, finding }) => {
  const history = await aHistoryWith("rows", (one) => five(one) && one.records[5]!.epoch === 1);
  const found = audit(change(history.records), history);
  expect(found[0]).toEqual({ ...finding, known: false });
  expect(new Set(found.map(({ place }) => place))).toEqual(new Set([finding.place]));
});

test("a record in an epoch below the first is not known where nothing was rebuilt, and no epoch is missing for it", async () => {
  const history = await aHistoryWith(
    "rows",
    (one) => five(one) && one.records.every(({ event }) => event !== "rebuilt"),
  );
  const found = audit(history.records.with(3, { ...history.records[3]!, epoch: -5 }), history);
  expect(found.filter(({ known }) => known)).toEqual([]);
  expect(found.map(({ sentence }) => sentence)).toContain("-5.3 has no place in a ledger");
  expect(found.map(({ sentence }) => sentence).join()).not.toContain("every record of");
});

test("epochs that are missing are one finding", async () => {
  const history = await aHistoryWith("rows", ({ records }) => records.at(-1)!.epoch >= 5);
  const left = history.records.filter(({ epoch }) => epoch === 1 || epoch > 3);
  expect(audit(left, history).filter(({ kind }) => kind === "missing")).toEqual([
    { kind: "missing", place: "2.0", sentence: "every record of the epochs 2 to 3 is missing", known: false },
  ]);
});

test("a ledger without records has nothing wrong with it", () => {
  expect(auditLedger([], () => "")).toEqual([]);
});

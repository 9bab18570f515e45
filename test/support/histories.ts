/**
 * Ledgers as they come about: written by the real lease and journals on stores in memory, by runs that end well, are killed,
 * fall asleep and write late, and whose writes fail or seem to.
 */
import * as fc from "./fast-check.ts";
import type { Clock } from "../../src/time/clock.ts";
import { foldLedger } from "../../src/ledger/state/fold.ts";
import type { LedgerState } from "../../src/ledger/state/ledger-state.ts";
import type { Journal } from "../../src/ledger/journal/journal.ts";
import { takeLease, type Lease } from "../../src/ledger/lease/lease.ts";
import { markersJournal } from "../../src/ledger/journal/markers-journal.ts";
import { byPlace, type LedgerEntry, type LedgerRecord } from "../../src/ledger/state/record.ts";
import { rowsJournal } from "../../src/ledger/journal/rows-journal.ts";
import type { Row } from "../../src/wire/rows/ipc-rows.ts";

/** What becomes of a write: `unheard` fails and is stored all the same. */
export type Fate = "well" | "lost" | "unheard";

export interface History {
  readonly records: readonly LedgerRecord[];
  readonly hashOf: (record: LedgerRecord) => string;
}

const duration = 30_000;
export const ledger = "_migrations";

type Saying = "advanced" | "applied" | "baselined" | "noted" | "renewed" | "retaken";
interface Run {
  /** What the runs that sleep write arrives between its look at the ledger and its taking of the epoch. */
  readonly stale: boolean;
  readonly says: readonly { readonly what: Saying; readonly fate: Fate; readonly wakes: boolean }[];
  readonly ends:
    | "released"
    | "killed"
    | "failed"
    | "lost"
    | "unheard"
    | "rebuilt"
    | "asleep"
    | "late"
    | "released late";
}

const runs: fc.Arbitrary<readonly Run[]> = fc.array(
  fc.record({
    stale: fc.boolean(),
    says: fc.array(
      fc.record({
        what: fc.constantFrom<Saying>("advanced", "applied", "baselined", "noted", "renewed", "retaken"),
        fate: fc.constantFrom<Fate>("well", "lost", "unheard"),
        wakes: fc.boolean(),
      }),
      { maxLength: 5 },
    ),
    ends: fc.constantFrom<Run["ends"]>(
      ...(["released", "released", "killed", "failed", "lost", "unheard", "rebuilt"] as const),
      ...(["asleep", "late", "released late"] as const),
    ),
  }),
  { minLength: 1, maxLength: 6 },
);

export type Kind = "rows" | "markers";

/** Any history, kept in rows or in markers. */
export function aHistory(kind: Kind): fc.Arbitrary<() => Promise<History>> {
  return runs.map((given) => () => write(given, kind === "rows" ? aTable() : someMarkers()));
}

interface Store {
  readonly journal: Journal;
  /** Of somebody who has written nothing. */
  readonly reader: Journal;
  /** Of the next write. */
  fate: Fate;
}

function aTable(): Store {
  const rows: Row[] = [];
  const table = {
    create: async () => {},
    all: async () => [...rows],
    last: async () => (rows.length === 0 ? undefined : { row: rows.at(-1)!, matched: false }),
    count: async () => 0,
    async insertIfAbsent(row: Row) {
      if (rows.some(({ key }) => key === row.key)) return false;
      rows.push(row);
      return true;
    },
    async insert(more: readonly Row[]) {
      const { fate } = store;
      store.fate = "well";
      if (fate !== "lost") rows.push(...more);
      if (fate !== "well") throw new Error("connection reset");
    },
    compact: async () => {},
  };
  const journal = rowsJournal(ledger, table);
  const store: Store = { journal, reader: journal, fate: "well" };
  return store;
}

function someMarkers(): Store {
  const names: string[] = [];
  let underWay: string[] = [];
  const open = () =>
    markersJournal(ledger, {
      names: async () => [...names],
      async create(name) {
        names.push(...underWay);
        underWay = [];
        const { fate } = store;
        store.fate = "well";
        if (fate === "unheard") underWay.push(name);
        if (fate !== "well") throw new Error("connection reset");
        if (names.includes(name)) return false;
        names.push(name);
        return true;
      },
      verdict: () => ({ kind: "refused" }),
      clock: { sleep: async () => {}, random: () => 0.5 },
    });
  const store: Store = { journal: open(), reader: open(), fate: "well" };
  return store;
}

async function write(given: readonly Run[], store: Store): Promise<History> {
  const { journal } = store;
  let time = 1_750_000_000_000;
  const clock: Clock = {
    wall: () => ++time,
    steady: () => time,
    sleep: async () => {},
    random: () => 0.5,
    every: () => () => {},
  };
  let asleep: (() => Promise<void>)[] = [];
  const wake = async () => {
    const due = asleep;
    asleep = [];
    for (const work of due) await work();
  };
  for (const [index, { stale, says, ends }] of given.entries()) {
    const state = foldLedger(await journal.read());
    if (stale) await wake();
    const runner = { by: `runner ${index}`, run: `run ${index}`, tool: "test 1" };
    const lease = (await takeLease(journal, state, runner, nextOf(state), { duration, clock }))!;
    const known = foldLedger(await journal.read());
    if (known.late.length > 0)
      await lease.record(known.late.map(({ epoch }): LedgerEntry => ({ event: "looked", late: epoch })));
    const { applied, last } = await speak(
      lease,
      known,
      ends === "rebuilt" ? [] : says,
      store,
      wake,
      () => void (time += 2 * duration),
    );
    if (!last) continue;
    const later = { ...about(nextOf(known) + applied), next: nextOf(known) + applied };
    const sleeping: Partial<Record<Run["ends"], () => Promise<void>>> = {
      asleep: () => lease.record([{ event: "applied", ...later }]),
      late: () => lease.recordLate({ event: "late", version: later.version, name: later.name, step: 1, total: 2 }),
      "released late": () => lease.release([{ event: "failed", ...later, step: 1, detail: "no" }], later.version),
    };
    if (ends === "released") await lease.release([{ event: "applied", ...later, next: undefined }]);
    if (ends === "failed") await lease.release([{ event: "failed", ...later, step: 0, detail: "why" }]);
    if (ends === "rebuilt") await lease.release([{ event: "applied", ...about(1) }, { event: "rebuilt" }]);
    if (ends === "lost" || ends === "unheard") {
      store.fate = ends;
      await lease.record([{ event: "applied", ...later }]).catch(() => {});
    }
    if (sleeping[ends] !== undefined) asleep.push(sleeping[ends]);
  }
  await wake();
  return { records: (await store.reader.read()).toSorted(byPlace), hashOf: journal.hashOf };
}

/** Says what is to be said; `last` is false when a write failed after which a run writes nothing more. */
async function speak(
  lease: Lease,
  known: LedgerState,
  says: Run["says"],
  store: Store,
  wake: () => Promise<void>,
  oversleep: () => void,
): Promise<{ readonly applied: number; readonly last: boolean }> {
  let applied = 0;
  for (const { what, fate, wakes } of says) {
    if (wakes) await wake();
    const version = nextOf(known) + applied;
    if (what === "retaken") {
      oversleep();
      await lease.check();
      continue;
    }
    // Only what is applied can be noted to read otherwise.
    if (what === "noted" && version === 1) continue;
    store.fate = fate;
    const entry: LedgerEntry =
      what === "renewed"
        ? { event: "renewed", next: version }
        : { event: what, ...about(what === "noted" ? version - 1 : version), next: version };
    try {
      await lease.record([what === "noted" ? { ...entry, textHash: `${version}`.repeat(64).slice(0, 64) } : entry]);
      if (what === "applied" || what === "baselined") applied++;
    } catch {
      if (what !== "renewed") return { applied, last: false };
    }
    store.fate = "well";
  }
  return { applied, last: true };
}

function nextOf({ migrations }: LedgerState): number {
  const ran = [...migrations.values()].filter(({ status }) => status === "applied");
  return (ran.at(-1)?.version ?? 0) + 1;
}

function about(version: number) {
  const hash = version.toString(16).padStart(2, "a");
  return {
    version,
    name: `m${version}`,
    step: 2,
    total: 2,
    attempt: 1,
    duration: 5,
    checksum: hash.repeat(32),
    textHash: hash.split("").toReversed().join("").repeat(32),
    steps: ["0123456789abcdef"],
    tables: { documents: [version, version + 1] as const },
  };
}

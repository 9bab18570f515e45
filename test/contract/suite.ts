/**
 * What every target has to do, whatever it talks to. A target's test file calls `describeTarget`, and `describeRecords` or
 * `describeMarkers` by the ledger that it keeps, and adds what is special to it.
 */
import { describe, expect, test } from "vitest";
import { formatType, type Column, type DataType } from "../../src/schema/data-type.ts";
import type { Action } from "../../src/actions/model/action.ts";
import { applyAction } from "../support/fold.ts";
import type { Database } from "../../src/schema/table.ts";
import { recordsOf } from "../support/ledger.ts";
import { journalOf } from "../../src/ledger/journal/open-journal.ts";
import { byPlace, type LedgerEntry, type LedgerRecord } from "../../src/ledger/state/record.ts";
import { ledgerColumns } from "../../src/ledger/journal/rows-journal.ts";
import type { TableSnapshot, Target } from "../../src/targets/contract/target.ts";
import type { Row } from "../../src/wire/rows/ipc-rows.ts";

export interface Pair {
  /** Two targets that know nothing of each other, on one empty database. */
  readonly one: Target;
  readonly other: Target;
  /** A table as it is, told by somebody else where the target can't describe. */
  readonly found: (table: string) => Promise<TableSnapshot | undefined>;
}

/** A sight without what the target keeps in it for itself. */
export function justSeen(sight: TableSnapshot | undefined): TableSnapshot | undefined {
  return sight && { table: sight.table, version: sight.version };
}

export type OpenPair = () => Promise<Pair>;

const column = (name: string, type: DataType, nullable = true): Column => ({ name, type, nullable });
const item = (type: DataType, nullable = true): Column => column("item", type, nullable);
const plain = (kind: "int32" | "utf8" | "float32" | "int64"): DataType => ({ kind });

const everyType: readonly DataType[] = [
  ...(["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"] as const).map((kind) => ({ kind })),
  ...(["float16", "float32", "float64", "null", "bool", "date32", "date64"] as const).map((kind) => ({ kind })),
  ...(["utf8", "largeUtf8", "binary", "largeBinary"] as const).map((kind) => ({ kind })),
  { kind: "fixedSizeBinary", length: 16 },
  { kind: "decimal128", precision: 38, scale: 10 },
  { kind: "time32", unit: "ms" },
  { kind: "time64", unit: "ns" },
  { kind: "duration", unit: "us" },
  { kind: "timestamp", unit: "us" },
  { kind: "timestamp", unit: "ns", zone: "Europe/Berlin" },
  { kind: "list", item: item(plain("int32"), false) },
  { kind: "largeList", item: item({ kind: "struct", fields: [column("x", plain("int32"))] }) },
  { kind: "fixedSizeList", item: item(plain("float32")), length: 768 },
  { kind: "struct", fields: [column("a", plain("utf8"), false), column("b", plain("int32"))] },
  { kind: "dictionary", index: plain("int32"), value: plain("utf8") },
];

export const columnsOfEveryType: readonly Column[] = everyType.map((type, index) => column(`of_${index}`, type));

const documents: Action = {
  kind: "createTable",
  table: "documents",
  metadata: { embedding_functions: "[]", owner: 'the "search" team, ü' },
  columns: [
    column("id", plain("int32"), false),
    column("title", plain("utf8")),
    column("source", { kind: "struct", fields: [column("url", plain("utf8")), column("fetched", plain("utf8"))] }),
    column("tags", { kind: "list", item: item(plain("int32")) }),
    column("embedding", { kind: "fixedSizeList", item: item(plain("float32")), length: 4 }),
  ],
};

const alter = (...alterations: Extract<Action, { kind: "alterColumns" }>["alterations"]): Action => ({
  kind: "alterColumns",
  table: "documents",
  alterations,
});

/** Each on a fresh documents table. */
const alterations: readonly (readonly [string, Action])[] = [
  ["a rename", alter({ path: "title", rename: "headline" })],
  ["a nested rename", alter({ path: "source.fetched", rename: "fetched_at" })],
  ["a quoted path", alter({ path: "`source`.`url`", rename: "address" })],
  ["a widening", alter({ path: "id", type: plain("int64") })],
  ["a nested retype", alter({ path: "source.url", type: { kind: "largeUtf8" } })],
  ["a retype of a list", alter({ path: "tags", type: { kind: "list", item: item(plain("int64")) } })],
  [
    "a retype of a vector",
    alter({ path: "embedding", type: { kind: "fixedSizeList", item: item({ kind: "float16" }), length: 4 } }),
  ],
  ["not null", alter({ path: "title", nullable: false })],
  ["nullable", alter({ path: "id", nullable: true })],
  ["a swap", alter({ path: "title", rename: "id" }, { path: "id", rename: "title" })],
  ["a nested swap", alter({ path: "source.url", rename: "fetched" }, { path: "source.fetched", rename: "url" })],
  ["rename and retype in one entry", alter({ path: "id", rename: "key", type: plain("int64") })],
  [
    "a struct and a field in it",
    alter({ path: "source", rename: "origin" }, { path: "source.url", rename: "address" }),
  ],
];

export function describeTarget(name: string, open: OpenPair): void {
  describe(name, () => {
    /** Who acts has looked, or knows from the migrations what he would see. */
    const act = async ({ one, found }: Pair, action: Action) =>
      await one.execute(
        action,
        one.capabilities.describes ? await one.describeTable(action.table) : await found(action.table),
      );

    test("a table that is not there is not seen", async () => {
      const { one } = await open();
      expect(await one.describeTable("documents")).toBeUndefined();
      expect(await one.listTables()).toEqual([]);
    });

    test("versions of a table that is not there have no time", async () => {
      const { one } = await open();
      expect(await one.versions?.time("documents", 1)).toBeUndefined();
    });

    test("a table that was made is seen and listed by others", async () => {
      const { one, other } = await open();
      await one.execute(documents, undefined);
      expect(await other.describeTable("documents")).toBeDefined();
      expect(await other.listTables()).toEqual(["documents"]);
    });

    test.each(everyType.map((type) => [formatType(type), type] as const))(
      "a column of type %s reads back as made",
      async (_, type) => {
        const { one, found } = await open();
        const columns = [column("id", plain("int64"), false), column("value", type)];
        await one.execute({ kind: "createTable", table: "types", columns }, undefined);
        expect((await found("types"))?.table.columns).toEqual(columns);
      },
    );

    test("creating a table that exists is refused and leaves it alone", async () => {
      const { one, other, found } = await open();
      await one.execute(documents, undefined);
      const before = await found("documents");
      const again: Action = { kind: "createTable", table: "documents", columns: [column("x", plain("int32"))] };
      const error = await other.execute(again, undefined).catch((thrown: unknown) => thrown);
      expect(other.verdict(error)).toMatchObject({ kind: "refused" });
      expect(await found("documents")).toEqual(before);
    });

    test.each(alterations)("%s leaves the table as the fold says, in one version", async (_, action) => {
      const pair = await open();
      await act(pair, documents);
      const before = await pair.found("documents");
      await act(pair, action);
      const after = await pair.found("documents");
      const database: Database = [documents, action].reduce(applyAction, new Map());
      expect(after?.table).toEqual(database.get("documents"));
      if (before?.version !== undefined) expect(after?.version).toBe(before.version + 1);
    });

    test.each([
      ["a missing column", alter({ path: "nope", rename: "x" })],
      ["a refused cast", alter({ path: "id", type: plain("utf8") })],
      ["one bad entry of two", alter({ path: "title", rename: "x" }, { path: "nope", rename: "y" })],
    ])("%s is refused and changes nothing", async (_, action) => {
      const pair = await open();
      await act(pair, documents);
      const before = await pair.found("documents");
      const error = await act(pair, action).catch((thrown: unknown) => thrown);
      expect(pair.one.verdict(error)).toMatchObject({ kind: "refused" });
      expect(await pair.found("documents")).toEqual(before);
    });

    test("a column renamed to its own name stays, and one that is not there is refused", async () => {
      const pair = await open();
      await act(pair, documents);
      const before = await pair.found("documents");
      await act(pair, alter({ path: "source.url", rename: "url" }));
      expect((await pair.found("documents"))?.table).toEqual(before?.table);
      const error = await act(pair, alter({ path: "source.uri", rename: "uri" })).catch((thrown: unknown) => thrown);
      expect(pair.one.verdict(error)).toMatchObject({ kind: "refused" });
    });

    test("an error of the target is explained in one line without places in its source", async () => {
      const pair = await open();
      await act(pair, documents);
      const error = await act(pair, alter({ path: "id", type: plain("utf8") })).catch((thrown: unknown) => thrown);
      expect(pair.one.explain(error)).toMatch(/^[^\n]+$/);
      expect(pair.one.explain(error)).not.toMatch(/\.rs\b|\/registry\//);
    });

    test("a ledger without records has none", async () => {
      const { one } = await open();
      const journal = journalOf(one, "_ledger");
      expect([await journal.head(), await journal.read()]).toEqual([undefined, []]);
    });

    test("of many that take an epoch at once one is told that it has it, and all read its record", async () => {
      const { one, other } = await open();
      const journals = Array.from({ length: 8 }, (_, index) => journalOf(index % 2 === 0 ? one : other, "_ledger"));
      const told = await Promise.all(journals.map((journal, index) => journal.take(aRecord(1, 0, `run ${index}`))));
      expect(told.filter(Boolean)).toHaveLength(1);
      for (const journal of journals) expect(await journal.read()).toHaveLength(1);
      const [winner] = await journals[told.indexOf(true)]!.read();
      expect(winner?.run).toBe(`run ${told.indexOf(true)}`);
    });

    test("what the holder records everyone reads, in whatever order, and the newest record is found", async () => {
      const { one, other } = await open();
      const [mine, theirs] = [journalOf(one, "_ledger"), journalOf(other, "_ledger")];
      await mine.take(aRecord(1, 0));
      const records = [1, 2, 10, 9].map((number) => aRecord(1, number));
      await mine.add(records);
      const facts = ({ epoch, number, event, version, next, lease, step, total }: LedgerRecord) =>
        [epoch, number, event, version, next, lease, step, total] as const;
      const read = (await theirs.read()).filter(({ number }) => number > 0);
      expect(read.toSorted(byPlace).map(facts)).toEqual(records.toSorted(byPlace).map(facts));
      expect(await theirs.head()).toMatchObject({ epoch: 1, number: 10 });
      const places = [
        { epoch: 1, number: 9 },
        { epoch: 0, number: 11 },
        { epoch: 1, number: 10 },
        { epoch: 2, number: 0 },
      ];
      const newest = await Promise.all(places.map((place) => theirs.isNewest(place)));
      expect(newest).toEqual([false, false, true, true]);
    });

    test("a record of every event reads back with the hash that it had when it was written", async () => {
      const { one, other } = await open();
      const [mine, theirs] = [journalOf(one, "_ledger"), journalOf(other, "_ledger")];
      await mine.take(aRecord(1, 0));
      const records = everyEvent.map((said, index): LedgerRecord => {
        const { epoch, number, at, by, run, tool, applied, previous } = aRecord(1, index + 1);
        return { epoch, number, at, by, run, tool, applied, previous, ...said };
      });
      await mine.add(records);
      const read = (await theirs.read()).toSorted(byPlace);
      const hashes = (journal: typeof mine, all: readonly LedgerRecord[]) =>
        all.map((record) => `${record.event} ${journal.hashOf(record)}`);
      expect(hashes(theirs, read)).toEqual(hashes(mine, [aRecord(1, 0), ...records]));
    });
  });
}

/** Of a target whose ledger is a table. */
export function describeRecords(name: string, open: OpenPair): void {
  describe(name, () => {
    test("records are added once a key, however many try", async () => {
      const { one, other } = await open();
      const [mine, theirs] = [recordsOf(one, "_ledger"), recordsOf(other, "_ledger")];
      expect(await mine.all(names)).toBeUndefined();
      await Promise.all([mine.create(), theirs.create()]);
      const told = await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          (index % 2 === 0 ? mine : theirs).insertIfAbsent(aRow(1, 0, `runner ${index}`)),
        ),
      );
      expect(told.filter(Boolean)).toHaveLength(1);
      expect([...((await mine.all(names)) ?? [])]).toHaveLength(1);
    });

    test("records read back as written, and the newest is found", async () => {
      const { one, other } = await open();
      const [mine, theirs] = [recordsOf(one, "_ledger"), recordsOf(other, "_ledger")];
      await mine.create();
      const rows = [aRow(1, 0), aRow(2, 1), aRow(2, 10), aRow(2, 9)];
      await mine.insert(rows);
      const read = [...((await theirs.all(names)) ?? [])];
      expect(read.toSorted((a, b) => Number(a.number) - Number(b.number))).toEqual(
        rows.toSorted((a, b) => Number(a.number) - Number(b.number)),
      );
      const order = ["epoch", "number"];
      for (const [predicate, matched] of [
        ["epoch = 3", false],
        ["number = 1", true],
      ] as const)
        expect(await theirs.last(order, order, () => predicate)).toEqual({ row: { epoch: 2, number: 10 }, matched });
      expect(await theirs.count("number > 1")).toBe(2);
    });

    test("what one writes the other reads at once, also while records are compacted", async () => {
      const { one, other } = await open();
      const [mine, theirs] = [recordsOf(one, "_ledger"), recordsOf(other, "_ledger")];
      await mine.create();
      for (let number = 0; number < 80; number++) {
        await mine.insert([aRow(1, number)]);
        await mine.compact();
        if (number % 10 === 0) expect([...((await theirs.all(names)) ?? [])]).toHaveLength(number + 1);
      }
      expect([...((await theirs.all(names)) ?? [])]).toHaveLength(80);
    });
  });
}

const names = ledgerColumns.map(({ name }) => name);

function aRecord(epoch: number, number: number, run = "run"): LedgerRecord {
  const place = { epoch, number, event: number === 0 ? "taken" : "applied", at: 1_763_632_000_123 } as const;
  const who = { by: run, run, tool: "test", applied: "a".repeat(64), previous: "b".repeat(64) };
  if (number === 0) return { ...place, ...who, lease: 30_000 };
  const facts = { version: 20_260_101_120_000, name: "widen_ids", step: number, total: 12, attempt: 1, duration: 7 };
  return { ...place, ...who, ...facts, checksum: "c".repeat(64), textHash: "d".repeat(64), next: 7, lease: 30_000 };
}

const facts = {
  version: 3,
  name: "widen_ids",
  step: 1,
  total: 2,
  attempt: 1,
  duration: 7,
  checksum: "c".repeat(64),
  textHash: "d".repeat(64),
  steps: ["0123456789abcdef"],
  tables: { documents: [1, 2], 'a "b"': [null, 7] } as const,
};

/** What the tool says with each event, with and without what may be absent. */
const everyEvent: readonly LedgerEntry[] = [
  { event: "renewed", lease: 30_000 },
  { event: "renewed", next: 3 },
  { event: "advanced", ...facts, next: 3 },
  { event: "applied", ...facts, step: 2 },
  { event: "failed", ...facts, detail: "naïve — «why» 'quoted'\nsecond line", next: 3 },
  { event: "interrupted", ...facts, step: 0, steps: [], tables: {} },
  { event: "noted", ...facts },
  { event: "late", version: 3, name: "widen_ids", step: 1, total: 2, next: 3 },
  { event: "looked", late: 1, next: undefined },
  { event: "rebuilt", lease: 30_000 },
  { event: "released" },
];

/** A ledger row with every kind of cell and some empty ones. */
function aRow(epoch: number, number: number, by = "somebody"): Row {
  return {
    ...Object.fromEntries(ledgerColumns.map(({ name }) => [name, null])),
    key: `${epoch}.${number}`,
    epoch,
    number,
    event: "applied",
    version: 20_260_101_120_000,
    name: "größer",
    at: 1_763_632_000_123,
    by,
    run: "r",
    tool: "t",
    applied: "a",
    previous: "",
    detail: 'it\'s "quoted"\nand goes on',
  };
}

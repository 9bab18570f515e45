/**
 * Calls on a handle that others' commits have overtaken: what the engine makes of them, and that the tables in memory, which a
 * simulation is about, make the same of them.
 */
import { expect, test } from "vitest";
import { connect, createEmptyTable, createFilledTable } from "../../src/engine/engine.ts";
import type { Action } from "../../src/actions/model/action.ts";
import { columnsOf, int32, int64, struct, utf8 } from "../../src/schema/declare/type-builders.ts";
import { open as openLance } from "../../src/targets/lance/lance.ts";
import { memoryTarget } from "../simulate/target/memory-target.ts";
import { memoryTables } from "../simulate/target/memory-tables.ts";
import type { Target } from "../../src/targets/contract/target.ts";
import { rowsToIpcFile } from "../../src/wire/rows/write-rows.ts";
import { temporaryFolder } from "../support/project.ts";
import { isLong, ofThisCommit } from "../support/rounds.ts";

const columns = columnsOf({ id: int32(), a: int32(), b: int32(), s: struct({ x: int32() }) });
const others = columnsOf({ x: utf8(), a: utf8(), y: utf8() });
const rowsFrom = (first: number) => [1, 2, 3].map((id) => ({ id: first + id, a: id, b: id, s: { x: id } }));
const bigint = int64().type;

/** What others do to a table. */
interface Others {
  readonly target: Target;
  readonly create: (other?: "other columns") => Promise<void>;
  readonly createFilled: () => Promise<void>;
  readonly append: () => Promise<void>;
  readonly compact: () => Promise<void>;
  readonly drop: () => Promise<void>;
  /** Whether a scan of the table works, and whether it gives rows. */
  readonly read: () => Promise<"rows" | "no rows" | "broken">;
}

async function onEngine(): Promise<Others> {
  const folder = temporaryFolder();
  const target = await openLance({ kind: "lance", uri: folder }, { name: "test", folder });
  const db = async () => await connect({ uri: folder });
  const handle = async () => await (await db()).openTable("t");
  return {
    target,
    create: async (other) => await createEmptyTable(await db(), "t", other === undefined ? columns : others),
    createFilled: async () => await createFilledTable(await db(), "t", rowsToIpcFile(columns, rowsFrom(50)), "create"),
    async append() {
      const table = await handle();
      const isOther = (await table.schema()).fields.some(({ name }) => name === "x");
      await table.add(isOther ? [{ x: "1", a: "2", y: "3" }] : rowsFrom(100));
    },
    async compact() {
      // The engine merges nothing where there is only one file.
      for (const first of [200, 300]) await (await handle()).add(rowsFrom(first));
      await (await handle()).optimize();
    },
    drop: async () => await (await db()).dropTable("t"),
    async read() {
      try {
        return (await (await handle()).query().toArray()).length === 0 ? "no rows" : "rows";
      } catch (error) {
        if (String(error).includes("was not found")) return "no rows";
        return "broken";
      }
    },
  };
}

async function inMemory(): Promise<Others> {
  const tables = memoryTables();
  const some = (first: number) => rowsFrom(first).map(({ id }) => ({ id }));
  return {
    target: memoryTarget({ name: "test", model: "embedded", tables }),
    create: async (other) => void tables.create("t", other === undefined ? columns : others),
    createFilled: async () => void tables.create("t", columns, some(50)),
    append: async () => tables.append("t", some(100)),
    async compact() {
      for (const first of [200, 300]) tables.append("t", some(first));
      tables.write("t", "compact");
    },
    drop: async () => tables.drop("t"),
    async read() {
      const table = tables.get("t");
      if (table?.isReadable === false) return "broken";
      return (table?.rows.length ?? 0) === 0 ? "no rows" : "rows";
    },
  };
}

const alter = (alteration: Extract<Action, { kind: "alterColumns" }>["alterations"][number]): Action => ({
  kind: "alterColumns",
  table: "t",
  alterations: [alteration],
});
const metadata = (path: string): Action => ({
  kind: "setMetadata",
  table: "t",
  updates: [{ path, metadata: { [`of ${path}`]: "1" } }],
});
const index = (path: string, name: string): Action => ({
  kind: "createIndex",
  table: "t",
  name,
  index: { path, kind: "btree", options: {} },
});
const act =
  (action: Action) =>
  async ({ target }: Others) =>
    void (await target.execute(action, await target.describeTable("t")));

const meanwhile: Readonly<Record<string, (others: Others) => Promise<void>>> = {
  nothing: async () => {},
  append: ({ append }) => append(),
  update: act({ kind: "updateRows", table: "t", set: { b: "7" }, where: "id = 1" }),
  delete: act({ kind: "deleteRows", table: "t", where: "id = 1" }),
  compaction: ({ compact }) => compact(),
  index: act(index("b", "theirs")),
  metadata: act(metadata("b")),
  "metadata of the same column": act(metadata("a")),
  rename: act(alter({ path: "b", rename: "q" })),
  retype: act(alter({ path: "b", type: bigint })),
  "not null": act(alter({ path: "b", nullable: false })),
  "a new column": act({ kind: "addColumns", table: "t", columns: [{ name: "n", type: bigint, nullable: true }] }),
  "a dropped column": act({ kind: "dropColumns", table: "t", paths: ["b"] }),
  async restore({ target, append }) {
    const version = (await target.describeTable("t"))!.version!;
    await append();
    const after = version + 1;
    await target.execute(
      { kind: "restoreTable", table: "t", version, after, as: { columns }, isSilent: true },
      await target.describeTable("t"),
    );
  },
  drop: ({ drop }) => drop(),
  async "drop and create"({ drop, create }) {
    await drop();
    await create();
  },
  async "drop and create with rows"({ drop, createFilled }) {
    await drop();
    await createFilled();
  },
  async "drop, create and as many commits"({ drop, create, append }) {
    await drop();
    await create();
    await append();
  },
  async "drop, create and more commits"({ drop, create, append }) {
    await drop();
    await create();
    for (let times = 0; times < 3; times++) await append();
  },
  async "drop, create with other columns and more commits"({ drop, create, append }) {
    await drop();
    await create("other columns");
    for (let times = 0; times < 3; times++) await append();
  },
};

const late: Readonly<Record<string, Action>> = {
  rename: alter({ path: "a", rename: "c" }),
  nullable: alter({ path: "id", nullable: true }),
  "not null": alter({ path: "a", nullable: false }),
  retype: alter({ path: "a", type: bigint }),
  addColumns: { kind: "addColumns", table: "t", columns: [{ name: "m", type: int32().type, nullable: true, as: "a" }] },
  addField: { kind: "addField", table: "t", path: "s.y", type: bigint, nullable: true },
  dropColumns: { kind: "dropColumns", table: "t", paths: ["a"] },
  setMetadata: metadata("a"),
  updateRows: { kind: "updateRows", table: "t", set: { a: "5" } },
  deleteRows: { kind: "deleteRows", table: "t", where: "id = 2" },
  createIndex: index("a", "ours"),
};

async function outcome(open: () => Promise<Others>, isFilled: boolean, name: string, action: Action) {
  const others = await open();
  const { target } = others;
  try {
    await others.create();
    if (isFilled) await others.append();
    const stale = await target.describeTable("t");
    await meanwhile[name]!(others);
    let made: number | undefined;
    const answer = await target.execute(action, stale).then(
      ({ version }) => {
        made = version;
        return "done";
      },
      (error: unknown) => target.verdict(error).kind,
    );
    const shown = async () => {
      const found = await target.describeTable("t", true);
      const indexes = Object.keys(found?.table.indexes ?? {}).toSorted();
      return { read: await others.read(), columns: found?.table.columns, indexes };
    };
    const after = await shown();
    const isSame = stale!.instance === (await target.instance!("t"));
    const undone = made === undefined ? undefined : await target.undo!(action, stale!, made);
    const isUndone = undone !== undefined && "restored" in undone;
    return { answer, ...after, isSame, isUndone, undone: isUndone ? await shown() : undefined };
  } finally {
    await target.close();
  }
}

/** For each commit on a table with rows or on one without, in turn, so that each call and each act of others meets both. */
const filled = (turn: number) => (isLong ? [true, false] : [turn % 2 === 0]);
const cases = Object.keys(meanwhile).flatMap((name, row) => {
  const calls = Object.keys(late).map((call, column) => [call, name, filled(row + column)] as const);
  // For each commit some of the acts of others after each call, for the next commit the rest.
  return name === "nothing" ? calls : ofThisCommit(row % 2 === 0 ? calls : calls.toReversed(), 2);
});

// Nullability of columns that are nullable is no change, which the engine commits all the same.
test.each(cases)("%s after %s", async (call, name, both) => {
  for (const isFilled of both) {
    const [engine, memory] = [
      await outcome(onEngine, isFilled, name, late[call]!),
      await outcome(inMemory, isFilled, name, late[call]!),
    ];
    expect({ isFilled, ...memory }).toEqual({ isFilled, ...engine });
  }
});

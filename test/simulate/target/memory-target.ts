/**
 * A target in memory, for simulations: it answers as the embedded engine or a table service does, over a way that may
 * lose, delay and reorder requests and answers. Nothing stays when the process ends, so no configuration can name it.
 */
import { systemClock, type Clock } from "../../../src/time/clock.ts";
import { firstLine, isMigrateError, MigrateError } from "../../../src/errors/migrate-error.ts";
import type { Action, ActionKind } from "../../../src/actions/model/action.ts";
import { actionKinds, describeAction } from "../../../src/actions/apply-action.ts";
import { retry } from "../../../src/targets/contract/retry.ts";
import type { Capabilities, TableSnapshot, Target, CallOutcome } from "../../../src/targets/contract/target.ts";
import type { Versions } from "../../../src/targets/contract/versions.ts";
import { verdictOf } from "../../../src/features/rest/service-verdict.ts";
import { holdsIn } from "./holds.ts";
import { markerPlace } from "../../../src/ledger/journal/marker-name.ts";
import type { Row } from "../../../src/wire/rows/ipc-rows.ts";
import { ledger } from "../scenario.ts";
import { memoryRecords } from "./ledger-table.ts";
import { Conflict, readsRows } from "./stale-handles.ts";
import type { MemoryTable, MemoryTables } from "./memory-table.ts";
import type { Carry, Model, RequestKind } from "./carry.ts";

export interface MemoryOptions {
  readonly name: string;
  readonly model: Model;
  readonly tables: MemoryTables;
  /** At once by default. */
  readonly carry?: Carry | undefined;
  readonly clock?: Clock | undefined;
  /** How the next list of tables is torn; undefined where it is not. */
  readonly tear?: (() => Tear | undefined) | undefined;
  /** Whether rows can be counted. */
  readonly counts?: boolean | undefined;
  readonly watch?: TargetWatch | undefined;
}

/** Is told what a run asks of the target. */
export interface TargetWatch {
  /** It has read of these epochs in the ledger. */
  readonly read: (epochs: readonly number[]) => void;
  /** It is about to write this to the ledger. */
  readonly written: (row: Row) => void;
  /** It has released a version of the table. */
  readonly released: (table: string) => void;
}

const unwatched: TargetWatch = { read: () => {}, written: () => {}, released: () => {} };

/** A list whose beginning is older than the rest. */
export interface Tear {
  /** By so many milliseconds. */
  readonly age: number;
  /** Where the rest begins: from 0, before all that came since, to 1. */
  readonly at: number;
}

/** It is carried out by others. */
const missing: ReadonlySet<ActionKind> = new Set(["convertColumn"]);
const every = Object.fromEntries(actionKinds.flatMap((kind) => (missing.has(kind) ? [] : [[kind, true as const]])));
const abilities: Record<Model, Capabilities> = {
  embedded: {
    actions: { ...every, renameTable: "the open-source engine can't rename a table" },
    describes: true,
    fences: true,
  },
  namespace: {
    actions: { ...every, addField: "services add columns by SQL expressions, which add no field to a struct" },
    describes: true,
    fences: false,
  },
  service: { actions: { createTable: true, alterColumns: true }, describes: false, fences: false },
};

export function abilitiesOf(model: Model): Capabilities {
  return abilities[model];
}

interface MemorySight extends TableSnapshot {
  readonly seen: MemoryTable;
}

export function memoryTarget({
  name,
  model,
  tables,
  carry = async ({ arrive }) => arrive()(),
  clock = systemClock,
  tear = () => undefined,
  counts = false,
  watch = unwatched,
}: MemoryOptions): Target {
  const capabilities = abilitiesOf(model);
  const { describes, fences } = capabilities;
  const answer = (status: number, request: string, problem: string, conflict?: boolean) =>
    new MigrateError("ERR_ANSWER", { target: name, request, status, problem, conflict });

  /** Gives what is there when it arrives; asked again while there is no answer. */
  const read: Read = async (what, result, more) =>
    await ask(
      what,
      () => {
        const found = result();
        return () => found;
      },
      more,
    );

  const ask = async <Result>(what: string, arrive: () => () => Result, more: RequestKind = {}): Promise<Result> => {
    try {
      return await retry(() => carry({ what, arrive, ...more }), verdictOf, clock);
    } catch (cause) {
      if (isMigrateError(cause)) throw cause;
      throw new MigrateError("ERR_TARGET_UNREACHABLE", { target: name, problem: firstLine(cause) }, { cause });
    }
  };

  /** The table that a call on a handle has made. */
  const committed = new WeakMap<TableSnapshot, MemoryTable>();

  /** Made once, on what its caller looked at, or on what is there when it arrives. */
  const write = async (action: Action, what: string, sight: MemorySight | undefined): Promise<number | undefined> =>
    await carry({
      what,
      action,
      arrive() {
        const handle = sight?.seen ?? tables.get(action.table);
        return () => {
          try {
            const isAnother = handle !== undefined && tables.get(action.table)?.born !== handle.born;
            // A call that outlasts its table reads rows, of which simulated tables have few.
            if (!fences && isAnother && readsRows(action))
              throw new Error("Not found: a file of the table that was dropped");
            // A service drops no table while it changes one of that name.
            tables.carryOut(action, !fences && isAnother ? undefined : handle);
          } catch (cause) {
            const isConflict = cause instanceof Conflict;
            throw answer(isConflict ? 409 : 400, what, (cause as Error).message, isConflict);
          }
          const made = tables.get(action.table);
          if (sight !== undefined && made !== undefined) committed.set(sight, made);
          return made?.version;
        };
      },
    });

  /** Two parts of a list may be from different moments. */
  const listTables = async () => {
    const names = await read("list tables", () => {
      const tearing = tear();
      return tearing === undefined ? tables.names() : torn(tables, tearing);
    });
    watch.read(names.flatMap((table) => markerPlace(ledger, table)?.epoch ?? []));
    return names;
  };

  return {
    name,
    place: "memory",
    capabilities,
    listTables,
    describeTable: (table, withIndexes) =>
      read(`look at ${table}`, (): MemorySight | undefined => {
        const seen = tables.get(table);
        if (seen === undefined) return undefined;
        if (!describes) return { table: { columns: [] }, version: undefined, seen };
        const { columns, indexes, metadata, version, at, born } = seen;
        const shown = { columns, metadata, ...(withIndexes === true ? { indexes } : {}) };
        // A service tells neither with the look.
        return { table: shown, version, seen, ...(fences && { at, instance: String(born) }) };
      }),
    instance: fences
      ? (table) => read(`identify ${table}`, () => tables.get(table) && String(tables.get(table)!.born))
      : undefined,
    async execute(action, sight) {
      const on = fences ? (sight as MemorySight | undefined) : undefined;
      const version = await write(action, `${action.kind} ${action.table}`, on);
      return describes ? { version } : {};
    },
    undo: fences
      ? ({ table }, sight) =>
          carry({
            what: `undo on ${table}`,
            changes: true,
            arrive: () => () => {
              const restored =
                tables.get(table) === committed.get(sight) ? tables.versions.undoNewest(table) : undefined;
              return restored === undefined ? undefined : { restored };
            },
          })
      : undefined,
    call: async (action) => describeAction(action),
    verdict: fences ? engineVerdict : verdictOf,
    explain: (error) => (isMigrateError(error, "ERR_ANSWER") ? error.details.problem : (error as Error).message),
    ledger: describes
      ? {
          kind: "rows",
          records: (shape) => memoryRecords({ tables, carry, clock, isService: !fences, watch }, shape),
        }
      : {
          kind: "markers",
          create(marker, columns, row) {
            watch.written(row);
            return carry({
              what: `create ${marker}`,
              records: true,
              arrive: () => () => tables.create(marker, columns, [row]),
            });
          },
        },
    ...(describes && {
      versions: versionsIn(tables, read, watch),
      holds: (action: Action) => read(`compare ${action.table}`, () => attempted(() => holdsIn(tables, action))),
      ...(counts && { countRows: countIn(tables, read) }),
    }),
    discard: async (table) => tables.drop(table),
    close: async () => {},
  };
}

type Read = <Result>(what: string, result: () => Result, more?: RequestKind) => Promise<Result>;

/** Rows that applications write have no values in the columns of migrations. */
function countIn({ get, versions }: MemoryTables, read: Read): NonNullable<Target["countRows"]> {
  return async (table, predicate, version) => {
    const found = await read(`count rows of ${table}`, () => {
      try {
        const { rows } = version === undefined ? requireTable(get(table), table) : versions.at(table, version);
        return { rows: predicate === undefined ? rows.length : 0 };
      } catch (error) {
        return { error };
      }
    });
    if ("error" in found) throw found.error;
    return found.rows;
  };
}

function requireTable(table: MemoryTable | undefined, name: string): MemoryTable {
  if (table === undefined) throw new Error(`there is no table ${name}`);
  return table;
}

function versionsIn({ get, versions }: MemoryTables, read: Read, watch: TargetWatch): Versions {
  /** What the tables throw is an answer too: such as that a version was cleaned up. */
  const ask = async <Result>(what: string, work: () => Result, more?: RequestKind): Promise<Result> => {
    const attempt = () => {
      try {
        return { value: work() };
      } catch (error) {
        return { error };
      }
    };
    const found = await read(`${what} versions`, attempt, more);
    if ("error" in found) throw found.error;
    return found.value;
  };
  return {
    keep: (table, version, name) => ask("keep", () => versions.keep(table, version, name), { changes: true }),
    release: (table, name) =>
      ask(
        "release",
        () => {
          versions.release(table, name);
          watch.released(table);
        },
        { changes: true },
      ),
    kept: (table) => ask("list kept", () => versions.kept(table)),
    look: (table, version, after) =>
      ask("look at", () => ({
        columns: versions.at(table, version).columns,
        restored: versions.restoredAs(table, version, after),
      })),
    list: (table) => ask("list", () => versions.list(table).map(({ version, at }) => ({ version, at }))),
    time: (table, version) =>
      ask("read the time of", () =>
        get(table) === undefined ? undefined : versions.list(table).find((one) => one.version === version)?.at,
      ),
    at: (table, version) =>
      ask("read", () => {
        const { columns, indexes, metadata } = versions.at(table, version);
        return { columns, indexes, metadata };
      }),
    since: (table, version, { until } = {}) => ask("compare", () => versions.since(table, version, until)),
    misfitsSince: async () => undefined,
  };
}

/** What sorts before one of the new names is as it was a while ago. */
function torn(tables: MemoryTables, { age, at }: Tear): readonly string[] {
  const [early, late] = [tables.names(age), tables.names().toSorted()];
  const there = new Set(early);
  const fresh = late.filter((name) => !there.has(name));
  const from = fresh[Math.floor(at * fresh.length)];
  return from === undefined ? late : [...early.filter((name) => name < from), ...late.filter((name) => name >= from)];
}

/** Undefined where it fails, such as because the version was cleaned up. */
function attempted<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

/** The embedded engine knows no answer that got lost. */
function engineVerdict(error: unknown): CallOutcome {
  return { kind: isMigrateError(error, "ERR_ANSWER") && error.details.conflict === true ? "conflict" : "refused" };
}

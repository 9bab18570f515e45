import type { Action } from "../../src/actions/model/action.ts";
import { formatPath } from "../../src/schema/path.ts";
import type { MemoryTable, MemoryTables } from "./target/memory-table.ts";
import type { Row } from "../../src/wire/rows/ipc-rows.ts";
import { chanceFor } from "./seeded-random.ts";
import { mark } from "./target/application-metadata.ts";
import type { Application } from "./schedule-state.ts";
import { isLedger } from "./scenario.ts";
import type { Counted, Watcher } from "./observer.ts";
import type { World } from "./virtual-time.ts";

/** How often each is drawn, of all schedules. */
export const rates = {
  /** Rows are appended, changed and deleted. */
  writes: 0.1,
  /** Metadata of columns is set. */
  metadata: 0.2,
  /** A table is dropped and created again as it is. */
  recreation: 0.1,
  /** Files are merged, and old versions cleaned up. */
  compaction: 0.3,
  /** Lists of tables are torn. */
  tornLists: 0.2,
} satisfies Partial<Record<Counted, number>>;
export type Disturbance = keyof typeof rates;
/** Of schedules that roll back: what they restore, and the versions that keep it, must not be cleaned up before their end. */
const ratesOfRollbacks: typeof rates = { ...rates, compaction: 0.75, writes: 0.7 };

interface Around {
  readonly seed: number;
  readonly world: World;
  readonly tables: MemoryTables;
  readonly watcher: Watcher;
  readonly does: ReadonlySet<Disturbance>;
  /** Milliseconds of the shortest lease. */
  readonly lease: number;
}

/** It draws from numbers of its own, so that a schedule in which it does nothing goes as it would without it. */
export function drawDisturbances(
  seed: number,
  isBack: boolean,
  fits: (one: Disturbance) => boolean,
): ReadonlySet<Disturbance> {
  const chance = chanceFor("disturbances", seed);
  const drawn = Object.entries(isBack ? ratesOfRollbacks : rates).filter(([, rate]) => chance.happens(rate));
  return new Set(drawn.map(([one]) => one as Disturbance).filter(fits));
}

export function anApplication({ seed, world, tables, watcher: { tell, count }, does, lease }: Around): Application {
  const chance = chanceFor("application", seed);
  const acts = [...does].filter((one) => one !== "tornLists");
  let written = 0;
  const recreated = new Set<string>();
  const removed = new Set<Row>();
  let isActive = false;
  let isOpen = false;

  const newRow = (): Row => ({ written: ++written });
  const others = () => tables.names().filter((name) => !isLedger(name));
  /** `action`: the call that is under way. */
  type Work = (name: string, table: MemoryTable, action?: Action) => string;
  const works: Readonly<Record<Exclude<Disturbance, "tornLists">, Work>> = {
    writes(name, { rows }) {
      const at = chance.below(rows.length);
      const kind =
        rows.length === 0 ? "append" : chance.pick(["append", "append", "append", "update", "delete"] as const);
      const change = {
        append: () => [...rows, newRow()],
        update: () => rows.with(at, newRow()),
        delete: () => rows.toSpliced(at, 1),
      };
      if (kind !== "append") removed.add(rows[at]!);
      tables.write(name, kind, { rows: change[kind]() });
      return `${kind} of a row of ${name}`;
    },
    metadata(name, { columns }, action) {
      const set = action?.kind === "setMetadata" ? action.updates.map(({ path }) => path) : [];
      const isSet = columns.findIndex((column) => set.includes(formatPath([column.name])));
      // What is set by the call itself, which would be rare otherwise.
      const at = isSet === -1 ? chance.below(columns.length) : isSet;
      const { metadata, ...column } = columns[at]!;
      const value = String(++written);
      const changed = { ...column, metadata: { ...metadata, [mark]: value } };
      tables.write(name, "metadata", { columns: columns.with(at, changed) });
      return `metadata ${value} on ${name}.${column.name}`;
    },
    recreation(name, { rows }) {
      recreated.add(name);
      tables.recreate(name, chance.happens(0.5) ? rows : [newRow()]);
      for (let more = chance.pick([0, 0, 2, 10]); more > 0; more--) tables.append(name, [newRow()]);
      return `${name} is dropped and created again`;
    },
    compaction(name) {
      tables.write(name, "compact");
      tables.cleanUp(name);
      return `${name} is compacted and cleaned up`;
    },
  };
  const act = (name: string | undefined, action?: Action, wanted?: keyof typeof works): void => {
    const table = name === undefined ? undefined : tables.get(name);
    if (!isActive || name === undefined || table === undefined || isLedger(name)) return;
    const what = wanted ?? (isOnMetadata(action) ? "metadata" : (chance.pick(acts) as keyof typeof works));
    const words = works[what](name, table, action);
    count(what);
    tell(() => `   application: ${words}`);
  };
  /** Two that set metadata of a column at once are rare otherwise. */
  const isOnMetadata = (action: Action | undefined) => action?.kind === "setMetadata" && does.has("metadata");
  const somewhere = () => (others().length === 0 ? undefined : chance.pick(others()));
  // A call takes a moment. What happens right then is rare otherwise.
  const inCalls = chance.pick([0, 0.1, 0.5]);
  const torn = chance.pick([0.1, 0.5, 1]);
  return {
    does,
    recreated,
    hasRemoved: (row) => removed.has(row),
    meanwhile: (action) => {
      if (isActive && chance.happens(isOnMetadata(action) ? 0.5 : inCalls)) act(action.table, action);
    },
    afterKill: () => {
      if (isActive && chance.happens(0.8)) world.after(0, () => others().forEach((name) => act(name)));
    },
    // Only that shows that the version was still needed.
    afterRelease: (table) => {
      if (!isActive || !does.has("compaction")) return;
      tables.cleanUp(table);
      tell(() => `   application: ${table} is cleaned up`);
    },
    tear: () => {
      if (!isOpen || !does.has("tornLists") || !chance.happens(torn)) return undefined;
      count("tornLists");
      return { age: chance.between(0, lease / 4), at: chance.next() };
    },
    begin(milliseconds) {
      isOpen = true;
      isActive = acts.length > 0;
      if (!isActive) return;
      for (let times = chance.pick([2, 6, 20]); times > 0; times--)
        world.after(chance.between(0, milliseconds), () => act(somewhere()));
      // Whatever comes must keep metadata that was set at the beginning.
      if (does.has("metadata"))
        for (let times = chance.pick([0, 4]); times > 0; times--)
          world.after(0, () => act(somewhere(), undefined, "metadata"));
    },
    end: () => {
      isActive = false;
      isOpen = false;
    },
  };
}

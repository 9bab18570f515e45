/**
 * An application beside migrations: it writes with the official client on connections of its own, and keeps what was
 * acknowledged. Each of its writers has its own rows and makes one write after the other.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { readColumns } from "../../src/engine/engine.ts";
import type { Column } from "../../src/schema/data-type.ts";
import { chanceOf, type Chance } from "../simulate/seeded-random.ts";
import { commit, type Connections, type Table } from "./commit.ts";
import type { Mood } from "./moods.ts";
import { keyNames } from "./steps.ts";
import { drawValue, hasSql } from "./values.ts";
import { writeKinds, type Keys, type Write, type WriteKind, type WrittenRow } from "./write.ts";

const writers = 3;
/** Of the writers the one that writes at certain moments. */
const bursting = 2;
/** So many writes of each are enough for one run. */
const most = 8;

export class Application {
  #connections: Connections;
  #chance: Chance;
  #writes: Write[] = [];
  #keys = new Map<string, Set<string>>();
  #handles = new Map<string, Table>();
  #isStopped = true;
  #running: Promise<unknown>[] = [];
  #inFlight = 0;
  #alone: Promise<void> | undefined;
  #next = 1;
  #mood: Mood = { kinds: {}, pause: 0 };
  #left = 0;

  constructor(seed: number, connections: Connections) {
    this.#connections = connections;
    this.#chance = chanceOf(seed);
  }

  #begin(keys: Keys, mood: Mood) {
    this.#writes = [];
    this.#mood = mood;
    this.#left = writers * most;
    // A table may have been dropped and created again since: the engine breaks it when a handle of before appends.
    this.#handles.clear();
    this.#keys = new Map(Object.entries(keys).map(([table, own]) => [table, new Set(own)]));
  }

  async write(count: number, keys: Keys, mood: Mood): Promise<readonly Write[]> {
    this.#begin(keys, mood);
    for (let made = 0; made < count; made++) await this.#write(this.#chance.below(writers));
    return this.#writes;
  }

  async start(keys: Keys, mood: Mood): Promise<void> {
    this.#begin(keys, mood);
    this.#isStopped = false;
    this.#running = Array.from({ length: bursting }, async (_, writer) => {
      while (!this.#isStopped && this.#left-- > 0) {
        await this.#write(writer);
        await sleep(this.#chance.below(mood.pause + 1));
      }
    });
    this.#running[bursting] = Promise.resolve();
  }

  async burst(): Promise<void> {
    const count = 1 + this.#chance.below(2);
    this.#running[bursting] = (this.#running[bursting] ?? Promise.resolve()).then(async () => {
      for (let made = 0; made < count && !this.#isStopped && this.#left-- > 0; made++) await this.#write(bursting);
    });
  }

  async stop(): Promise<readonly Write[]> {
    this.#isStopped = true;
    await Promise.all(this.#running);
    return this.#writes;
  }

  close() {
    this.#connections.db.close();
    this.#connections.local.close();
  }

  async #write(writer: number): Promise<void> {
    while (this.#alone !== undefined) await this.#alone;
    const kind = this.#drawKind();
    if (kind !== "recreate") {
      this.#inFlight++;
      await this.#one(writer, kind).finally(() => this.#inFlight--);
      return;
    }
    // The engine breaks a table that was dropped and created again when a handle of before appends: so all wait.
    let over = () => {};
    this.#alone = new Promise((resolve) => (over = resolve));
    while (this.#inFlight > 0) await sleep(1);
    await this.#one(writer, kind).finally(() => {
      this.#handles.clear();
      this.#alone = undefined;
      over();
    });
  }

  #drawKind(): WriteKind {
    const kinds = writeKinds.filter((kind) => (this.#mood.kinds[kind] ?? 0) > 0);
    let at = this.#chance.between(
      0,
      kinds.reduce((sum, kind) => sum + this.#mood.kinds[kind]!, 0),
    );
    return kinds.find((kind) => (at -= this.#mood.kinds[kind]!) < 0) ?? "append";
  }

  async #one(writer: number, kind: WriteKind): Promise<void> {
    const chance = this.#chance;
    const names = (await this.#connections.db.tableNames().catch(() => [])).filter((name) => /^[tuvw]$/.test(name));
    if (names.length === 0) return;
    const name = chance.pick(names);
    // Some applications open a table each time, and some once.
    const cached = this.#handles.get(`${writer} ${name}`);
    let table: Table;
    let columns: readonly Column[];
    try {
      table = cached ?? (await this.#connections.db.openTable(name));
      columns = (await readColumns(table)).filter((column) => !column.name.startsWith("_lance_migrate"));
    } catch {
      return;
    }
    if (chance.happens(0.5)) this.#handles.set(`${writer} ${name}`, table);
    const key = columns.find((column) => keyNames.includes(column.name));
    if (key === undefined) return;
    const intended = this.#intend(kind, writer, name, key, columns);
    if (intended === undefined) return;
    const write = { writer, table: name, kind, columns, ...intended };
    try {
      const version = await commit(write, this.#connections, table, key.name);
      this.#writes.push({ ...write, isAcknowledged: true, version });
      this.#remember(write);
    } catch (error) {
      this.#handles.delete(`${writer} ${name}`);
      this.#writes.push({ ...write, isAcknowledged: false, problem: String(error).split("\n")[0]!.slice(0, 200) });
    }
  }

  #remember({ kind, table, rows }: Pick<Write, "kind" | "table" | "rows">) {
    const own = this.#keys.get(table) ?? new Set();
    this.#keys.set(table, own);
    if (kind === "recreate") own.clear();
    for (const { key } of rows)
      if (kind === "delete") own.delete(key);
      else own.add(key);
  }

  /** Undefined where there is nothing to write. */
  #intend(
    kind: WriteKind,
    writer: number,
    table: string,
    key: Column,
    columns: readonly Column[],
  ): Pick<Write, "rows" | "metadata"> | undefined {
    const chance = this.#chance;
    const others = columns.filter((column) => column !== key);
    const own = [...(this.#keys.get(table) ?? [])].filter((one) => Math.abs(Number(one)) % writers === writer);
    const some = () => [...new Set(Array.from({ length: 1 + chance.below(3) }, () => chance.pick(own)))];
    const fresh = () => String(this.#next++ * writers + writer);
    const rowOf = (one: string, given: readonly Column[]): WrittenRow => ({
      key: one,
      values: Object.fromEntries(given.map((column) => [column.name, drawValue(chance, column)])),
    });
    switch (kind) {
      case "append":
      case "recreate": {
        // Columns that may be null are left out now and then.
        const given = others.filter(({ nullable }) => !nullable || chance.happens(0.7));
        return { rows: Array.from({ length: 1 + chance.below(3) }, () => rowOf(fresh(), given)) };
      }
      case "put":
        return { rows: [...(own.length > 0 ? some() : []), fresh()].map((one) => rowOf(one, others)) };
      case "upsert":
      case "update": {
        const fitting = kind === "upsert" ? others : others.filter(({ type }) => hasSql(type));
        if (own.length === 0 || fitting.length === 0) return undefined;
        const column = chance.pick(fitting);
        if (kind === "upsert") return { rows: some().map((one) => rowOf(one, [column])) };
        const { values } = rowOf("", [column]);
        return { rows: some().map((one) => ({ key: one, values })) };
      }
      case "delete":
        return own.length === 0 ? undefined : { rows: some().map((one) => ({ key: one, values: {} })) };
      case "metadata": {
        const column = chance.pick(columns).name;
        return { rows: [], metadata: { column, key: `app${writer}`, value: String(this.#next++) } };
      }
      case "optimize":
        return { rows: [] };
    }
  }
}

/** Runs on the real engine whose calls can be cut off, or during which something else happens. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { embed } from "../../src/features/embed/feature.ts";
import type { Clock } from "../../src/time/clock.ts";
import { MigrateError } from "../../src/errors/migrate-error.ts";
import { migrationsIn } from "../../src/migrations/source.ts";
import type { MigratorOptions } from "../../src/run/run-context.ts";
import type { Target } from "../../src/targets/contract/target.ts";
import type { LedgerStore, RecordTable } from "../../src/targets/contract/ledger-store.ts";

/** Called around every call to a target, with its number, counted from 1. */
export interface Watch {
  readonly before?: (call: number, what: string) => unknown;
  readonly after?: (call: number, what: string) => unknown;
}

/** Time that passes only while somebody sleeps; who can be woken waits for something that takes its own time. */
export function leapingClock(): Clock {
  let time = 1_763_650_000_000;
  return {
    wall: () => Math.round(time),
    steady: () => time,
    sleep: async (milliseconds, signal) => {
      if (signal === undefined) time += milliseconds;
      else await sleep(milliseconds, undefined, { signal });
    },
    random: () => 0.5,
    every: () => () => {},
  };
}

const cutOff = () => {
  throw new MigrateError("ERR_TARGET_UNREACHABLE", { target: "test", problem: "killed" });
};

/** A process that is gone from that call on, before it or after it. */
export function killed(at: number, after: boolean): Watch {
  return {
    before: (call) => (call > at || (call === at && !after) ? cutOff() : undefined),
    after: (call) => (call === at ? cutOff() : undefined),
  };
}

const changing = new Set(["create ledger", "take", "write", "execute"]);

/** Whether such a call can change anything: what others see after any other call is as before it. */
export function canChange(what: string): boolean {
  return changing.has(what);
}

/** A process that is gone after that call of those that can change something. Killed anywhere else, it leaves the same as after one of them. */
export function killedAfterChange(at: number): Watch {
  let changes = 0;
  return {
    before: () => (changes === at ? cutOff() : undefined),
    after: (_, what) => (canChange(what) && ++changes === at ? cutOff() : undefined),
  };
}

export function watched(target: Target, { before, after }: Watch): Target {
  let calls = 0;
  const wrap = <Args extends readonly unknown[], Result>(what: string, work: (...args: Args) => Promise<Result>) =>
    async function (...args: Args): Promise<Result> {
      const call = ++calls;
      await before?.(call, what);
      const result = await work(...args);
      await after?.(call, what);
      return result;
    };
  const tableOf = (table: RecordTable): RecordTable => ({
    create: wrap("create ledger", table.create),
    all: wrap("read", table.all),
    last: wrap("head", table.last),
    count: wrap("head", table.count),
    insertIfAbsent: wrap("take", table.insertIfAbsent),
    insert: wrap("write", table.insert),
    compact: table.compact,
  });
  const { ledger } = target;
  const store: LedgerStore =
    ledger.kind === "rows"
      ? { kind: "rows", records: (shape) => tableOf(ledger.records(shape)) }
      : { kind: "markers", create: wrap("write", ledger.create) };
  return {
    ...target,
    ledger: store,
    listTables: wrap("list", target.listTables),
    describeTable: wrap("look", target.describeTable),
    execute: wrap("execute", target.execute),
  };
}

/** What a run on these migrations is started with; each is a list of steps as plain data. */
export function optionsFor(folder: string, target: Target, clock: Clock): MigratorOptions {
  return {
    target,
    migrations: migrationsIn(folder),
    ledger: "_migrations",
    clock,
    computing: embed.computing,
    lease: { duration: 30_000, patience: 600_000 },
  };
}

export function writeMigrations(folder: string, migrations: readonly (readonly object[])[], before = ""): void {
  for (const [index, steps] of migrations.entries())
    writeFileSync(join(folder, `000${index + 1}_m.mjs`), `${before}export const up = ${JSON.stringify(steps)};\n`);
}

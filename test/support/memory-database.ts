/** A database in memory that many runs share, each as a process of its own that is killed or stopped at one of its calls. */
import { memoryTables } from "../simulate/target/memory-tables.ts";
import { memoryTarget } from "../simulate/target/memory-target.ts";
import type { Carry } from "../simulate/target/carry.ts";
import { embed } from "../../src/features/embed/feature.ts";
import { migrationsIn } from "../../src/migrations/source.ts";
import type { MigratorOptions } from "../../src/run/run-context.ts";
import { sleepingClock } from "./clocks.ts";

/** What happens to a process at one of its calls to the outside, before or after the call has its effect. */
export interface Fate {
  readonly at: number;
  readonly after: boolean;
  /** It is stopped while this goes on; killed where there is none. */
  readonly meanwhile?: () => Promise<unknown>;
}

const ledger = "_migrations";
const duration = 30_000;

/** `folder`: where the migrations are. It answers as the embedded engine. */
export function aMemoryDatabase(folder: string) {
  // One time for all: while one process waits, it passes for the one that is stopped.
  const clock = sleepingClock();
  const tables = memoryTables({ now: clock.wall });
  let callsOfNewest = () => 0;

  /** One process, to which something happens. */
  function aProcess(fate?: Fate): MigratorOptions {
    let [calls, isDead] = [0, false];
    callsOfNewest = () => calls;
    const meet = async () => {
      isDead = fate?.meanwhile === undefined;
      if (isDead) throw new Error("killed");
      await fate!.meanwhile!();
    };
    const carry: Carry = async ({ arrive }) => {
      if (isDead) throw new Error("killed");
      const isNow = ++calls === fate?.at;
      if (isNow && !fate!.after) await meet();
      const result = arrive()();
      if (isNow && fate!.after) await meet();
      return result;
    };
    return {
      target: memoryTarget({ name: "test", model: "embedded", tables, carry, clock }),
      migrations: migrationsIn(folder),
      ledger,
      clock,
      computing: embed.computing,
      lease: { duration, patience: 600_000 },
    };
  }

  return {
    aProcess,
    /** Of the process that was made last. */
    calls: () => callsOfNewest(),
    oversleep: () => clock.sleep(duration * 2),
    /** Each table with all that took effect on it: what was done twice is seen. */
    tables: () =>
      tables
        .names()
        .filter((name) => name !== ledger)
        .map((name) => ({ name, columns: tables.get(name)!.columns, effects: [...tables.get(name)!.effects] })),
  };
}

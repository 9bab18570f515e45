/**
 * Locks on tables. A schema change runs alone. Writers of rows run together, but never beside a schema change: the
 * engine would acknowledge values that are appended during a retype, and lose them (docs/internals/engine.md).
 */

export interface TableLock {
  readonly table: string;
  /** Whether nothing else may hold a lock on the table at the same time. */
  readonly alone: boolean;
}

export interface Locks {
  /** Runs the work while it holds all these locks. */
  holding<Result>(wanted: readonly TableLock[], work: () => Promise<Result>): Promise<Result>;
}

interface Lock {
  sharing: number;
  alone: boolean;
  readonly waiting: Waiter[];
}

interface Waiter {
  readonly alone: boolean;
  readonly start: () => void;
}

/** Locks by name, each in order of arrival: nothing waits forever, and work that comes after a waiter waits too. */
export function createLocks(): Locks {
  const locks = new Map<string, Lock>();

  const admit = (name: string, lock: Lock) => {
    for (let next = lock.waiting[0]; next !== undefined; next = lock.waiting[0]) {
      if (lock.alone || (next.alone && lock.sharing > 0)) return;
      lock.waiting.shift();
      if (next.alone) lock.alone = true;
      else lock.sharing++;
      next.start();
    }
    if (!lock.alone && lock.sharing === 0) locks.delete(name);
  };

  const holdingOne = async <Result>({ table, alone }: TableLock, work: () => Promise<Result>): Promise<Result> => {
    const lock = locks.get(table) ?? { sharing: 0, alone: false, waiting: [] };
    locks.set(table, lock);
    await new Promise<void>((start) => {
      lock.waiting.push({ alone, start });
      admit(table, lock);
    });
    try {
      return await work();
    } finally {
      if (alone) lock.alone = false;
      else lock.sharing--;
      admit(table, lock);
    }
  };

  return {
    async holding(wanted, work) {
      // In a fixed order, so that two requests never wait for each other.
      const inOrder = wanted.toSorted((one, other) => (one.table < other.table ? -1 : 1));
      return await inOrder.reduceRight((inner, lock) => () => holdingOne(lock, inner), work)();
    },
  };
}

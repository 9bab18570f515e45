/**
 * Locks on tables. A schema change runs alone. Writers of rows run together, but never beside a schema change: the
 * engine would acknowledge values that are appended during a retype, and lose them (docs/engine.md).
 */

export interface Locks {
  /** Runs beside other shared work, but never beside work that runs alone. */
  shared<Result>(name: string, work: () => Promise<Result>): Promise<Result>;
  alone<Result>(name: string, work: () => Promise<Result>): Promise<Result>;
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

  const holding = async <Result>(name: string, alone: boolean, work: () => Promise<Result>): Promise<Result> => {
    const lock = locks.get(name) ?? { sharing: 0, alone: false, waiting: [] };
    locks.set(name, lock);
    await new Promise<void>((start) => {
      lock.waiting.push({ alone, start });
      admit(name, lock);
    });
    try {
      return await work();
    } finally {
      if (alone) lock.alone = false;
      else lock.sharing--;
      admit(name, lock);
    }
  };

  return {
    shared: (name, work) => holding(name, false, work),
    alone: (name, work) => holding(name, true, work),
  };
}

/**
 * Locks on tables. A schema change runs alone. Writers of rows run together, but never beside a schema change: the
 * engine would acknowledge values that are appended during a retype, and lose them (docs/internals/engine.md).
 */

export interface TableLock {
  readonly table: string;
  /** Whether nothing else may hold a lock on the table at the same time. */
  readonly alone: boolean;
  /** Whether a guest may stay although the lock is alone. */
  readonly besideGuest?: boolean;
}

export interface Locks {
  /** Runs the work while it holds all these locks. */
  holding<Result>(wanted: readonly TableLock[], work: () => Promise<Result>): Promise<Result>;
  /**
   * Lets in a guest that gives way: `leave` is called when a lock without `besideGuest` is wanted, which is held once the
   * guest has called the function that this returns. Undefined if the guest would have to wait itself.
   */
  letIn(table: string, leave: () => void): (() => void) | undefined;
}

interface Lock {
  sharing: number;
  alone: boolean;
  /** Whether who holds it alone lets a guest stay. */
  besideGuest?: boolean | undefined;
  /** Asks the guest to leave. */
  guest?: (() => void) | undefined;
  readonly waiting: Waiter[];
}

interface Waiter extends Omit<TableLock, "table"> {
  readonly start: () => void;
}

/** Locks by name, each in order of arrival: nothing waits forever, and work that comes after a waiter waits too. */
export function createLocks(): Locks {
  const locks = new Map<string, Lock>();

  const admit = (name: string, lock: Lock) => {
    for (let next = lock.waiting[0]; next !== undefined; next = lock.waiting[0]) {
      if (isDisturbed(lock, next)) return lock.guest!();
      if (lock.alone || (next.alone && lock.sharing > 0)) return;
      lock.waiting.shift();
      if (next.alone) Object.assign(lock, { alone: true, besideGuest: next.besideGuest });
      else lock.sharing++;
      next.start();
    }
    if (!lock.alone && lock.sharing === 0 && lock.guest === undefined) locks.delete(name);
  };

  const lockOf = (table: string): Lock => {
    const lock = locks.get(table) ?? { sharing: 0, alone: false, waiting: [] };
    locks.set(table, lock);
    return lock;
  };

  const holdingOne = async <Result>({ table, ...wanted }: TableLock, work: () => Promise<Result>): Promise<Result> => {
    const lock = lockOf(table);
    await new Promise<void>((start) => {
      lock.waiting.push({ ...wanted, start });
      admit(table, lock);
    });
    try {
      return await work();
    } finally {
      if (wanted.alone) lock.alone = false;
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
    letIn(table, leave) {
      const lock = lockOf(table);
      const isTaken = (lock.alone && !lock.besideGuest) || lock.waiting.some((next) => next.alone && !next.besideGuest);
      if (isTaken || lock.guest !== undefined) return undefined;
      lock.guest = leave;
      return () => {
        lock.guest = undefined;
        admit(table, lock);
      };
    },
  };
}

function isDisturbed({ guest }: Lock, { alone, besideGuest = false }: Waiter): boolean {
  return guest !== undefined && alone && !besideGuest;
}

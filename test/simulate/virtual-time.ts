/** Virtual time: what is to happen, in its order. Nothing waits for real, and the same world always goes the same way. */

export interface World {
  /** Milliseconds since the world began. */
  now(): number;
  /** Makes something happen after so many milliseconds. */
  after(milliseconds: number, happen: () => void): void;
  /** Lets everything happen until nothing is left to. False when there is no end to it. */
  run(): Promise<boolean>;
}

interface Happening {
  readonly at: number;
  readonly order: number;
  readonly happen: () => void;
}

/** More than any run needs: some thousands. */
const mostHappenings = 100_000;

export function aWorld(): World {
  const heap: Happening[] = [];
  let now = 0;
  let order = 0;
  return {
    now: () => now,
    after: (milliseconds, happen) => push(heap, { at: now + milliseconds, order: order++, happen }),
    async run() {
      for (let count = 0; heap.length > 0; count++) {
        if (count === mostHappenings) return false;
        const next = pop(heap);
        now = next.at;
        next.happen();
        await everythingSettled();
      }
      return true;
    },
  };
}

/** Resolves when whoever waits for what has just happened waits for something else. */
function everythingSettled(): Promise<void> {
  // A tick runs when no promise is left to continue with. One that is set in another tick would run before all promises.
  return new Promise((resolve) => queueMicrotask(() => process.nextTick(resolve)));
}

function isBefore(one: Happening, other: Happening): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order);
}

function push(heap: Happening[], happening: Happening): void {
  let at = heap.length;
  heap.push(happening);
  while (at > 0) {
    const above = (at - 1) >> 1;
    if (isBefore(heap[above]!, happening)) break;
    heap[at] = heap[above]!;
    at = above;
  }
  heap[at] = happening;
}

function pop(heap: Happening[]): Happening {
  const first = heap[0]!;
  const moving = heap.pop()!;
  let at = 0;
  if (heap.length === 0) return first;
  for (;;) {
    let below = 2 * at + 1;
    if (below >= heap.length) break;
    if (below + 1 < heap.length && isBefore(heap[below + 1]!, heap[below]!)) below++;
    if (isBefore(moving, heap[below]!)) break;
    heap[at] = heap[below]!;
    at = below;
  }
  heap[at] = moving;
  return first;
}

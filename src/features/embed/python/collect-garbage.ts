import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** In bytes: what a program beside this one does not miss. */
const little = 32 * 2 ** 20;

/** The least that was in use since the last time. */
let inUse = 0;

/**
 * Gives memory back that the engine of JavaScript has kept for objects that are no more: after millions of rows, more than
 * a program needs that is about to start beside this one. Takes as long as there are objects, so it does nothing if little
 * was added since the last time, nor where this is not Node.
 */
export function collectGarbage(): void {
  const now = used();
  if (now < inUse + little) {
    inUse = Math.min(inUse, now);
    return;
  }
  try {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as (how: object) => void;
    collect({ type: "major", flavor: "last-resort" });
  } catch {
    // Then it only takes more memory.
  }
  inUse = used();
}

function used(): number {
  const { used_heap_size, external_memory } = getHeapStatistics();
  return used_heap_size + external_memory;
}

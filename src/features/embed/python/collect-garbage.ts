import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * Gives memory back that the engine of JavaScript has kept for objects that are no more: after millions of rows, more than
 * a program needs that is about to start beside this one. Does nothing where this is not Node.
 */
export function collectGarbage(): void {
  try {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as (how: object) => void;
    collect({ type: "major", flavor: "last-resort" });
  } catch {
    // Then it only takes more memory.
  }
}

/** Random sequences of steps of all kinds on random tables, several at a time: the engine works in threads of its own. */
import * as fc from "../support/fast-check.ts";
import { beginning, drafts } from "./draw.ts";
import { walk, type Counts } from "./walk.ts";

const atATime = 3;

/** Throws the shortest sequence on which fold and engine disagree, as short as `mostTime` milliseconds let it become. */
export async function checkSequences(sequences: number, seed: number, mostTime?: number): Promise<Counts> {
  const limit = mostTime === undefined ? {} : { interruptAfterTimeLimit: mostTime, markInterruptAsFailure: true };
  const counts: Counts = new Map();
  const property = fc.asyncProperty(beginning, drafts, (first, rest) => walk([first, ...rest], counts));
  const parts = Array.from({ length: atATime }, (_, part) => {
    const parameters = { numRuns: Math.ceil(sequences / atATime), seed: seed + part, ...limit };
    return fc.assert(property, parameters).catch((error: Error) => {
      // Of what fast-check prints the steps tell all.
      throw new Error(`seed ${parameters.seed}: ${(error.cause as Error | undefined)?.message ?? error.message}`);
    });
  });
  await Promise.all(parts);
  return counts;
}

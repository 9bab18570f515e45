/** Nobody is left in a dead end: the last line of each message leads on, or back. */
import { expect, test } from "vitest";
import { ofThisCommit } from "../support/rounds.ts";
import { mountSmallDisk } from "../support/small-disk.ts";
import { statesOf } from "./scene.ts";
import { followMessages } from "./sequences.ts";

const seeds = ofThisCommit(
  Array.from({ length: 200 }, (_, index) => 1 + index),
  50,
);
let states: ReturnType<typeof statesOf> | undefined;

test.for(seeds)(
  "what has failed ends right if the last line of each message is followed (seed %i)",
  async (seed, context) => {
    const befell = await followMessages(seed, await (states ??= statesOf()), (folder) =>
      mountSmallDisk(context, folder, 16),
    );
    expect(befell.length).toBeLessThan(4);
  },
);

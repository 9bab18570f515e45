import { expect, test } from "vitest";
import { drawnNames } from "./draw.ts";
import { rounds } from "../support/rounds.ts";
import { checkSequences } from "./check.ts";

const sequences = rounds(30, 2_000);
/** How often each kind of step must be applied, and refused. */
const least = sequences / 100;
/** A new kind changes what is drawn, so some kind may be too rare in the first batch. */
const mostBatches = 4;

test(`fold and engine agree after every step of ${sequences} sequences`, async () => {
  const counts = new Map<string, number>();
  // The engine can't rename tables, and there is no code that could compute values.
  const never: ReadonlySet<string> = new Set(["renameTable", "backfillColumn", "reembedColumn"]);
  const rare = () => [
    ...drawnNames.filter((kind) => !never.has(kind) && (counts.get(`${kind} applied`) ?? 0) < least),
    ...drawnNames.filter((kind) => (counts.get(`${kind} refused`) ?? 0) < least),
  ];
  for (let batch = 0; batch === 0 || (batch < mostBatches && rare().length > 0); batch++) {
    // The same every time, so that what is red is about the change; npm run check sequences draws others.
    const drawn = await checkSequences(batch === 0 ? sequences : sequences / 3, 5 + 3 * batch, 540_000);
    for (const [what, count] of drawn) counts.set(what, (counts.get(what) ?? 0) + count);
  }
  expect(rare()).toEqual([]);
});

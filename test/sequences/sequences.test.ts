import { expect, test } from "vitest";
import { stepNames } from "../../src/steps/registry.ts";
import { rounds } from "../support/rounds.ts";
import { checkSequences } from "./check.ts";

const sequences = rounds(300, 2_000);
/** How often each kind of step is to be applied, and refused: few of them for each commit. */
const least = sequences / 100;

test(`fold and engine agree after every step of ${sequences} sequences`, { timeout: 600_000 }, async () => {
  // The same every time, so that what is red is about the change; npm run sequences draws others.
  const counts = await checkSequences(sequences, 5, 540_000);
  // And everything did happen. The engine can't rename tables.
  const never = stepNames.filter((kind) => kind !== "renameTable" && (counts.get(`${kind} applied`) ?? 0) < least);
  expect(never).toEqual([]);
  const refused = stepNames.filter((kind) => (counts.get(`${kind} refused`) ?? 0) < least);
  expect(refused).toEqual([]);
});

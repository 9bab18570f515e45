/** How code of the project is called. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openCode } from "../../../../../src/features/embed/compute/call-code.ts";
import { sleepingClock } from "../../../../support/clocks.ts";
import { temporaryFolder } from "../../../../support/project.ts";

const rows = [{ id: 1 }];

/** `times`: those of the clock at which the code was called. */
async function aScene(computation: { readonly callsPerMinute?: number }, signal?: AbortSignal) {
  const folder = temporaryFolder();
  writeFileSync(
    join(folder, "code.mjs"),
    "export default (rows) => rows.map(({ id }) => globalThis.called?.() ?? id);\n",
  );
  const clock = sleepingClock();
  const code = await openCode({ with: "code.mjs", ...computation } as never, { folder, clock, signal });
  const times: number[] = [];
  const began = clock.steady();
  const compute = async () => {
    Object.assign(globalThis, { called: () => void times.push(clock.steady() - began) });
    await code.compute(rows);
  };
  return { compute, times };
}

test("calls begin with a minute divided by their number between them", async () => {
  const { compute, times } = await aScene({ callsPerMinute: 60 });
  for (let call = 0; call < 4; call++) await compute();
  expect(times).toEqual([0, 1_000, 2_000, 3_000]);
});

test("a call that would begin after an interruption is not made", async () => {
  const controller = new AbortController();
  const { compute, times } = await aScene({ callsPerMinute: 60 }, controller.signal);
  await compute();
  controller.abort();
  await expect(compute()).rejects.toThrow("the run was interrupted");
  expect(times).toEqual([0]);
});

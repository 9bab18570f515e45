import { alterColumns } from "lance-migrate";
import { expect, test } from "vitest";
import { actionsOf } from "../../../../src/plan/compile/compile.ts";

test("a swap of names is several actions only where the target can't describe tables", () => {
  const swap = alterColumns("t", [
    { path: "a", rename: "b" },
    { path: "b", rename: "a" },
  ]);
  expect(actionsOf(swap, { describes: true })).toHaveLength(1);
  expect(actionsOf(swap, { describes: false }).length).toBeGreaterThan(1);
});

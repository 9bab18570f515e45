import { expect, test } from "vitest";
import { planDocument } from "../../../../src/plan/assess/plan-document.ts";

test("what was accepted to be lost is in the document of a plan, and nothing where there is none", () => {
  const documentOf = (accepted: readonly string[] | undefined) =>
    planDocument({ migrations: [], accepted } as never, "local", "down");
  expect(documentOf(["1 row of t"])).toMatchObject({ target: "local", reverting: [], accepted: ["1 row of t"] });
  expect(documentOf([])).not.toHaveProperty("accepted");
  expect(documentOf(undefined)).not.toHaveProperty("accepted");
});

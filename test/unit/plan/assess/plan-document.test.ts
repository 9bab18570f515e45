import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { planDocument, planDocumentShape } from "../../../../src/plan/assess/plan-document.ts";
import { root } from "../../../support/project.ts";

// npx vitest run test/unit/plan/assess/plan-document.test.ts -u rewrites it.
test("the published JSON schema is that of the documents", async () => {
  const schema = { title: "migrate plan --json", ...z.toJSONSchema(planDocumentShape) };
  await expect(`${JSON.stringify(schema, undefined, 2)}\n`).toMatchFileSnapshot(join(root, "docs", "plan.schema.json"));
});

test("what was accepted to be lost is in the document of a plan, and nothing where there is none", () => {
  const documentOf = (accepted: readonly string[] | undefined) =>
    planDocument({ migrations: [], accepted } as never, "local", "down");
  expect(documentOf(["1 row of t"])).toMatchObject({ target: "local", reverting: [], accepted: ["1 row of t"] });
  expect(documentOf([])).not.toHaveProperty("accepted");
  expect(documentOf(undefined)).not.toHaveProperty("accepted");
});

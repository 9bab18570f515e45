import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { planDocumentShape } from "../../../src/plan/document.ts";
import { root } from "../../support/project.ts";

// npx vitest run test/unit/plan/document.test.ts -u writes it anew.
test("the published JSON schema is that of the documents", async () => {
  const schema = { title: "migrate plan --json", ...z.toJSONSchema(planDocumentShape) };
  await expect(`${JSON.stringify(schema, undefined, 2)}\n`).toMatchFileSnapshot(join(root, "docs", "plan.schema.json"));
});

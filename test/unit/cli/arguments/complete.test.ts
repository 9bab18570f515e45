import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { complete } from "../../../../src/cli/arguments/complete.ts";
import { temporaryFolder } from "../../../support/project.ts";

test("a line break in a meaning adds no candidate", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "migrations"));
  const config = join(folder, "migrate.config.mjs");
  writeFileSync(config, `export default { targets: { local: { kind: "lance", uri: "a" } } };\n`);
  const tables = { documents: { columns: { title: "utf8\nother.column\u001b[31m" } } };
  writeFileSync(join(folder, "migrations/lock.json"), JSON.stringify({ tables }));
  expect(await complete(["--config", config, "new", "more", "--drop-column", "documents."])).toBe(
    "documents.title\tutf8\\nother.column\\u001b[31m\n",
  );
});

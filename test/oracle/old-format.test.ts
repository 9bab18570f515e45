/** Tables in the file format that Lance had first, which only pylance can still create. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { open } from "../../src/targets/lance/lance.ts";
import { officialPackages, pythonWith } from "../clients/client.ts";
import { lacks } from "../support/needs.ts";
import { temporaryFolder } from "../support/project.ts";

const write = `import sys, lance, pyarrow
lance.write_dataset(pyarrow.table({"id": [1, 2]}), sys.argv[1], data_storage_version="legacy")
`;

test.skipIf(lacks("python"))("a column is added to a table of the first file format", async () => {
  const folder = temporaryFolder();
  execFileSync(pythonWith(...officialPackages), ["-c", write, join(folder, "docs.lance")]);
  const target = await open({ kind: "lance", uri: folder }, { name: "test", folder });
  const seen = await target.describeTable("docs");
  const columns = [{ name: "pages", type: { kind: "int32" }, nullable: true }] as const;
  await target.execute({ kind: "addColumns", table: "docs", columns }, seen);
  expect((await target.describeTable("docs"))?.table.columns.map(({ name }) => name)).toEqual(["id", "pages"]);
  expect(await target.rows!.read("docs", { select: [["id", "id"]] })).toEqual([{ id: 1 }, { id: 2 }]);
});

import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createOnce } from "../../../src/engine/create-table.ts";
import { columnsOf, int64 } from "../../../src/schema/declare/type-builders.ts";
import { temporaryFolder } from "../../support/project.ts";

test("why a table could not be prepared is said, also if another process has removed its files meanwhile", async () => {
  const folder = temporaryFolder();
  const prepare = async () => {
    rmSync(join(folder, ".lance-migrate"), { recursive: true });
    throw new Error("the disk is full");
  };
  const created = createOnce({ uri: folder, folder }, "t", columnsOf({ id: int64() }), prepare);
  await expect(created).rejects.toThrow("the disk is full");
});

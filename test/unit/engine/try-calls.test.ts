import { readdirSync } from "node:fs";
import { afterEach, expect, test, vi } from "vitest";
import { onEmptyTable } from "../../../src/engine/try-calls.ts";
import { temporaryFolder } from "../../support/project.ts";

afterEach(() => vi.unstubAllEnvs());

test("an empty table on which something is tried is in memory, not in files", async () => {
  const folder = temporaryFolder();
  vi.stubEnv("TMPDIR", folder);
  const columns = [{ name: "a", type: { kind: "int64" }, nullable: true }] as const;
  const [files, rows] = await onEmptyTable(columns, async (table) => [
    readdirSync(folder, { recursive: true, encoding: "utf8" }),
    await table.countRows(),
  ]);
  expect(rows).toBe(0);
  expect(files.filter((name) => name.includes(".lance"))).toEqual([]);
});

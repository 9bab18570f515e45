import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkMigrations } from "../../../../../src/features/shared/check-migrations/check-migrations.ts";
import { memoryTables } from "../../../../simulate/target/memory-tables.ts";
import { memoryTarget } from "../../../../simulate/target/memory-target.ts";
import { temporaryFolder } from "../../../../support/project.ts";
import { leapingClock, optionsFor, writeMigrations } from "../../../../support/watched.ts";

test("a step on a table that only a file with a wrong name creates is no error of its own", async () => {
  const folder = temporaryFolder();
  const drop = (table: string) => [{ kind: "dropColumn", table, path: "a" }];
  writeMigrations(folder, [drop("notes"), drop("pages")]);
  writeFileSync(join(folder, "notes.ts"), `export const up = [createTable("notes", { a: int32() })];\n`);
  const target = memoryTarget({ name: "memory", model: "embedded", tables: memoryTables() });
  const { problems } = await checkMigrations(optionsFor(folder, target, leapingClock()));
  expect(problems).toMatchObject([
    { code: "ERR_FILE_NAME", details: { file: "notes.ts" } },
    { code: "ERR_STEP_IMPOSSIBLE", details: { file: "0002_m.mjs", step: 1 } },
  ]);
});

import { expect, test } from "vitest";
import { openMigrator, type Choice } from "lance-migrate";
import { temporaryFolder } from "../support/project.ts";

// The types refuse these; a program in JavaScript has none.
test.each([
  [{ dryRun: true }, "there is no setting dryRun"],
  [{ allowOutOfOrders: true }, "there is no setting allowOutOfOrders; did you mean allowOutOfOrder?"],
  [{ allowOutOfOrder: "no" }, "allowOutOfOrder has to be true or false"],
  [{ to: "0003" }, "to has to be the number of a migration"],
  [3, "options have to be an object"],
])("up, plan and rehearse of %o are refused", async (wanted, problem) => {
  const migrator = await openMigrator({ folder: temporaryFolder() });
  const choice = wanted as Choice;
  for (const refused of [migrator.up(choice), migrator.plan(choice), migrator.rehearse(choice)])
    await expect(refused).rejects.toMatchObject({ code: "ERR_USAGE", details: { problem } });
  await migrator.close();
});

test("rows that are no number of rows are refused", async () => {
  const migrator = await openMigrator({ folder: temporaryFolder() });
  for (const rows of [-1, 1.5, "many"])
    await expect(migrator.rehearse({ rows: rows as number })).rejects.toMatchObject({
      code: "ERR_USAGE",
      details: { problem: "rows has to be how many rows" },
    });
  await migrator.close();
});

test("options that are none are refused", async () => {
  await expect(openMigrator("local" as never)).rejects.toMatchObject({
    code: "ERR_USAGE",
    message: "options have to be an object",
  });
});

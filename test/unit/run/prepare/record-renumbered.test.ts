import { createTable, int32 } from "lance-migrate";
import { expect, test } from "vitest";
import { up } from "../../../../src/commands/up.ts";
import { isMigrateError } from "../../../../src/errors/migrate-error.ts";
import { namesNow, parseFormer } from "../../../../src/migrations/former-names.ts";
import type { MigrationSource } from "../../../../src/migrations/source.ts";
import { aMigration } from "../../../simulate/history.ts";
import { sourceOf } from "../../../simulate/start-run.ts";
import { aMemoryDatabase, type Fate } from "../../../support/memory-database.ts";
import { temporaryFolder } from "../../../support/project.ts";

const create = [createTable("t", { a: int32() })];
const known = aMigration(1, create);
const renumbered = { ...aMigration(2, create), was: namesNow(known).flatMap(parseFormer) };
const migrations: MigrationSource = { list: () => [renumbered], load: async () => renumbered };

test("a run that was stopped right after it took the lease finds that another one has recorded the new numbers", async () => {
  const endings: string[] = [];
  for (let at = 1, isStopped = true; isStopped; at++) {
    const database = aMemoryDatabase(temporaryFolder());
    const process = (fate?: Fate) => ({ ...database.aProcess(fate), migrations });
    await up({ ...process(), migrations: sourceOf([known]) });
    isStopped = false;
    const meanwhile = async () => {
      isStopped = true;
      await database.oversleep();
      await up(process());
    };
    const ending = up(process({ at, after: true, meanwhile }));
    endings.push(
      await ending.then(
        () => "done",
        (error: unknown) => (isMigrateError(error) ? error.code : "failed"),
      ),
    );
    expect(await up(process())).toEqual({ applied: 0, total: 1 });
  }
  expect(new Set(endings)).toEqual(new Set(["done", "ERR_LEASE_LOST"]));
});

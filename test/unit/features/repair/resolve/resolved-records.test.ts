import { expect, test } from "vitest";
import { foldLedger } from "../../../../../src/ledger/state/fold.ts";
import { int32 } from "../../../../../src/schema/declare/type-builders.ts";
import { createTable } from "../../../../../src/steps/index.ts";
import { aMigration } from "../../../../simulate/history.ts";
import { markAdopted, markReverted } from "../../../../../src/features/repair/resolve/resolved-records.ts";

test("a migration of which nothing is recorded is marked as one that was tried once", () => {
  const { entries } = markReverted(foldLedger([]), { version: 6, name: "lost" });
  expect(entries.at(-1)).toMatchObject({ event: "reverted", version: 6, name: "lost", attempt: 1, step: 0, total: 0 });
});

test("a migration that the ledger does not know is adopted with one record", () => {
  const capabilities = { actions: { createTable: true }, describes: true, fences: true } as const;
  const migration = aMigration(6, [createTable("t", { id: int32() })]);
  const { entries } = markAdopted(foldLedger([]), migration, capabilities);
  expect(entries).toMatchObject([{ event: "baselined", version: 6, step: 1, total: 1 }]);
});

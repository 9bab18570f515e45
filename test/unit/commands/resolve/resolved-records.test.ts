import { expect, test } from "vitest";
import { foldLedger } from "../../../../src/ledger/state/fold.ts";
import { markReverted } from "../../../../src/commands/resolve/resolved-records.ts";

test("a migration of which nothing is recorded is marked as one that was tried once", () => {
  const { entries } = markReverted(foldLedger([]), { version: 6, name: "lost" });
  expect(entries.at(-1)).toMatchObject({ event: "reverted", version: 6, name: "lost", attempt: 1, step: 0, total: 0 });
});

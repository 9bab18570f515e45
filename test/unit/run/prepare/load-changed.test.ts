import { createTable, int32 } from "lance-migrate";
import { expect, test } from "vitest";
import { foldLedger } from "../../../../src/ledger/state/fold.ts";
import type { LedgerState } from "../../../../src/ledger/state/ledger-state.ts";
import { loadChanged } from "../../../../src/run/prepare/load-changed.ts";
import { aMigration } from "../../../simulate/history.ts";
import { sourceOf } from "../../../simulate/start-run.ts";

test("only files whose text has changed since they ran are loaded", async () => {
  const migrations = [1, 2, 3].map((version) => aMigration(version, [createTable(`t${version}`, { id: int32() })]));
  const source = sourceOf(migrations);
  const files = source.list();
  // The text of the second has changed, and the third has not run.
  const ran = files.slice(0, 2).map(({ version, textHash }) => [version, version === 2 ? "former" : textHash] as const);
  const known = ran.map(([version, textHash]) => [version, { version, textHash, status: "applied" }] as const);
  const state = { ...foldLedger([]), migrations: new Map(known) } as unknown as LedgerState;
  expect((await loadChanged(source, files, state)).map(({ version }) => version)).toEqual([2]);
});

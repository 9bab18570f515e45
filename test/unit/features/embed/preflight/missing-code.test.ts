import { addColumn, backfillColumn, createTable, int64 } from "lance-migrate";
import { expect, test } from "vitest";
import { embed } from "../../../../../src/features/embed/feature.ts";
import { plan } from "../../../../../src/commands/plan.ts";
import { up } from "../../../../../src/commands/up.ts";
import { open } from "../../../../../src/targets/lance/lance.ts";
import { aMigration } from "../../../../simulate/history.ts";
import { sourceOf } from "../../../../simulate/start-run.ts";
import { temporaryFolder } from "../../../../support/project.ts";

test("a column is not filled by code that is not there, if there are rows to compute", async () => {
  const folder = temporaryFolder();
  const target = await open({ kind: "lance", uri: folder }, { name: "local", folder });
  const options = {
    target,
    folder,
    ledger: "_migrations",
    lease: { duration: 600_000, patience: 0 },
    computing: embed.computing,
  };
  const create = (table: string, rows: readonly { readonly id: number; readonly a: number }[]) =>
    createTable(table, { id: int64().notNull(), a: int64() }, { rows });
  const first = aMigration(1, [create("empty", []), create("t", [{ id: 1, a: 2 }])]);
  await up({ ...options, migrations: sourceOf([first]) });
  const filling = (table: string) => {
    const computation = { from: ["a"], key: "id", with: "./none.ts", version: "1" };
    return [addColumn(table, "n", int64()), backfillColumn(table, "n", computation)];
  };
  const refusals = async (table: string) => {
    const migrations = sourceOf([first, aMigration(2, filling(table))]);
    return (await plan({ ...options, migrations })).migrations[0]!.actions.map(({ refusal }) => refusal);
  };
  expect(await refusals("t")).toEqual([undefined, { reason: "failure", problem: "there is no file ./none.ts" }]);
  expect(await refusals("empty")).toEqual([undefined, undefined]);
  await target.close();
});

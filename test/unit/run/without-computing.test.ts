/** Runs of a copy without the feature that computes values, on a database that a whole release has migrated. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { addColumn, backfillColumn, createTable, int64, reembedColumn, utf8, vector } from "lance-migrate";
import { expect, test } from "vitest";
import { embed } from "../../../src/features/embed/feature.ts";
import { plan } from "../../../src/commands/plan.ts";
import { up } from "../../../src/commands/up.ts";
import { open } from "../../../src/targets/lance/lance.ts";
import { aMigration } from "../../simulate/history.ts";
import { sourceOf } from "../../simulate/start-run.ts";
import { temporaryFolder } from "../../support/project.ts";

const code = { from: ["text"], key: "id", with: "./model.mjs", version: "2" };

async function scene() {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "model.mjs"), "export default (rows) => rows.map(({ text }) => [text.length, 0]);\n");
  const target = await open({ kind: "lance", uri: temporaryFolder() }, { name: "local", folder });
  const columns = { id: int64().notNull(), text: utf8(), v: vector(1) };
  const migrations = [aMigration(1, [createTable("t", columns, { rows: [{ id: 1, text: "a", v: [1] }] })])];
  const without = () => ({
    target,
    folder,
    ledger: "_migrations",
    lease: { duration: 600_000, patience: 0 },
    migrations: sourceOf(migrations),
  });
  const whole = () => ({ ...without(), computing: embed.computing });
  return { target, migrations, without, whole };
}

test("rows that wait for their value are computed by the next whole release", async () => {
  const { target, migrations, without, whole } = await scene();
  migrations.push(aMigration(2, [reembedColumn("t", "v", { type: vector(2), ...code })]));
  await up(whole(), {});
  const { table } = (await target.describeTable("t"))!;
  const columns = table.columns.filter(({ name }) => name === "id" || name === "text");
  await target.rows!.append("t", { columns, rows: [{ id: 2, text: "bb" }] });
  await up(without(), {});
  const missing = async () => await target.countRows!("t", "v is null", undefined);
  expect(await missing()).toBe(1);
  await up(whole(), {});
  expect(await missing()).toBe(0);
  await target.close();
});

test("a step that computes values is refused before anything is changed", async () => {
  const { target, migrations, without } = await scene();
  await up(without(), {});
  migrations.push(aMigration(2, [addColumn("t", "n", vector(2)), backfillColumn("t", "n", code)]));
  const refusal = { reason: "failure", problem: "this copy of lance-migrate has no part that computes values" };
  const { actions } = (await plan(without())).migrations[0]!;
  expect(actions.map((action) => action.refusal)).toEqual([undefined, refusal]);
  await expect(up(without(), {})).rejects.toMatchObject({ code: "ERR_STEP_WOULD_FAIL" });
  await target.close();
});

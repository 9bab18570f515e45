/** A table of the embedded engine, and what others do to it between the looks and the calls of a run. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { migrationsIn } from "../../src/migrations/source.ts";
import { down, type DownChoice } from "../../src/commands/down.ts";
import { up } from "../../src/commands/up.ts";
import { history } from "../../src/commands/status.ts";
import type { MigratorOptions } from "../../src/run/run-context.ts";
import { int32, utf8 } from "../../src/schema/declare/type-builders.ts";
import { createTable } from "../../src/steps/index.ts";
import type { Step } from "../../src/steps/registry.ts";
import { loadTarget } from "../../src/targets/index.ts";
import { leapingOverLeases } from "../support/clocks.ts";
import { temporaryFolder } from "../support/project.ts";
import { lancedb } from "../support/tables.ts";

export const table = createTable("t", { id: int32().notNull(), a: utf8(), b: utf8() });
export const before = ["id: int32 not null", "a: utf8", "b: utf8"];
export const old = [{ id: 1, a: "old", b: "old" }];
export const theirs = [
  { id: 8, a: "theirs", b: "theirs" },
  { id: 9, a: "theirs", b: "theirs" },
];

/** What others do to the table, once each. */
export interface Others {
  /** When the plan is made, before the run asks what the last action of a run that was stopped has lost. */
  readonly afterPlan?: () => Promise<unknown>;
  /** When its first action begins, before the run looks once more. */
  readonly beforeLook?: () => Promise<unknown>;
  /** When the run has looked and is about to call the engine. */
  readonly beforeCall?: () => Promise<unknown>;
  /** The same before its second call. */
  readonly beforeSecondCall?: () => Promise<unknown>;
  /** When the engine has committed and the run does not know it yet. */
  readonly afterCall?: () => Promise<unknown>;
  readonly afterRefusal?: () => Promise<unknown>;
  /** Before each look of the run. */
  readonly beforeLooks?: () => Promise<unknown>;
  /** Before each call of the run. */
  readonly beforeCalls?: () => Promise<unknown>;
  /** After each call of the run. */
  readonly afterCalls?: () => Promise<unknown>;
}

/** A database with a table, whose second migration has these steps and is pending. */
export async function aDatabase(
  steps: readonly Step[],
  first: { readonly create: Step; readonly rows: Record<string, unknown>[] } = { create: table, rows: old },
) {
  const folder = temporaryFolder();
  const migrations = join(folder, "migrations");
  mkdirSync(migrations);
  const write = (file: string, steps: readonly Step[]) =>
    writeFileSync(
      join(migrations, file),
      `export const accepts = ["irreversible", "lossy"];\nexport const up = ${JSON.stringify(steps)};\n`,
    );
  const open = async () => {
    const module = (await loadTarget("lance"))!;
    const target = await module.open({ kind: "lance", uri: folder }, { name: "test", folder });
    onTestFinished(() => target.close());
    return target;
  };
  const leaping = leapingOverLeases();
  const options = async () => ({
    target: await open(),
    migrations: migrationsIn(migrations),
    ledger: "_migrations",
    lease: { duration: 30_000, patience: 30_000 },
    ...leaping,
  });
  const beside = async (others: Others): Promise<MigratorOptions> => {
    const { target, ...rest } = await options();
    let isPlanned = false;
    let isBegun = false;
    const once = new Set<unknown>();
    const happens = async (what: (() => Promise<unknown>) | undefined) => {
      if (once.has(what)) return;
      once.add(what);
      await what?.();
    };
    const look: typeof target.describeTable = async (...given) => {
      if (isPlanned) await happens(others.afterPlan);
      if (isBegun) await happens(others.beforeLook);
      if (isBegun) await others.beforeLooks?.();
      return await target.describeTable(...given);
    };
    let calls = 0;
    const execute: typeof target.execute = async (action, seen) => {
      if (action.table === "t") await others.beforeCalls?.();
      if (action.table === "t") await happens(++calls === 1 ? others.beforeCall : others.beforeSecondCall);
      try {
        const version = await target.execute(action, seen);
        if (action.table === "t") await happens(others.afterCall);
        if (action.table === "t") await others.afterCalls?.();
        return version;
      } catch (error) {
        await happens(others.afterRefusal);
        throw error;
      }
    };
    const emit: MigratorOptions["emit"] = (one) => {
      leaping.emit(one);
      isPlanned ||= one.event === "planned";
      isBegun ||= one.event === "action";
    };
    return { ...rest, target: { ...target, describeTable: look, execute }, emit };
  };
  const run = async (others: Others = {}, more?: Partial<MigratorOptions>) =>
    await up({ ...(await beside(others)), ...more }).catch((error: unknown) => error);
  const back = async (choice: DownChoice = {}, others: Others = {}, more?: Partial<MigratorOptions>) =>
    await down({ ...(await beside(others)), ...more }, choice).catch((error: unknown) => error);
  const handle = async () => await (await lancedb.connect(folder)).openTable("t");
  write("0001_before.mjs", [first.create]);
  expect(await run()).toMatchObject({ applied: 1 });
  await (await handle()).add(first.rows);
  write("0002_step.mjs", steps);
  const schema = await (await handle()).schema();
  const recreate = async (rows: Record<string, unknown>[], more = 0) => {
    const db = await lancedb.connect(folder);
    const now = await (await db.openTable("t")).schema();
    await db.dropTable("t");
    const made = await db.createEmptyTable("t", now);
    for (let id = 0; id < more; id++) await made.updateFieldMetadata([{ path: "id", metadata: { more: null } }]);
    if (rows.length > 0) await made.add(rows);
  };
  /** Its version 2 looks like that of the old table, and holds other rows. */
  const recreateAlike = async (rows: Record<string, unknown>[], gone: string[]) => {
    const db = await lancedb.connect(folder);
    await db.dropTable("t");
    const made = await db.createEmptyTable("t", schema);
    await made.add([{ id: 0, a: "lure", b: "lure" }]);
    await made.delete("true");
    await made.dropColumns(gone);
    await made.add(rows);
  };
  const records = async () => await history(await options());
  /** A clock of a run that was stopped: its lease runs out, as nothing renews it. */
  const asleep = { ...leaping.clock, every: () => () => {} };
  return { folder, run, back, recreate, recreateAlike, handle, write, records, asleep };
}

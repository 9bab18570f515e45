/**
 * Random migrations on random tables with rows, rolled back on the real engine: what the plan promises of each must be so.
 * A migration that stops half-way is rolled back too. The ledger is in memory, for speed.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { embed } from "../../src/features/embed/feature.ts";
import { connect, readColumns, type EngineTable } from "../../src/engine/engine.ts";
import { isMigrateError, type MigrateError } from "../../src/errors/migrate-error.ts";
import type { Migration } from "../../src/migrations/load.ts";
import type { RollbackClass } from "../../src/plan/rollback/rollback-classes.ts";
import { down } from "../../src/commands/down.ts";
import { up } from "../../src/commands/up.ts";
import { plan } from "../../src/commands/plan.ts";
import type { MigratorOptions } from "../../src/run/run-context.ts";
import { tablesAfter } from "../../src/actions/apply-action.ts";
import { change, type Table } from "../../src/schema/table.ts";
import { compileStep, parseStep, type Step } from "../../src/steps/registry.ts";
import { open } from "../../src/targets/lance/lance.ts";
import { memoryTarget } from "../simulate/target/memory-target.ts";
import { memoryTables } from "../simulate/target/memory-tables.ts";
import type { Target } from "../../src/targets/contract/target.ts";
import { aMigration } from "../simulate/history.ts";
import { sourceOf } from "../simulate/start-run.ts";
import { stepOf, type Draft } from "./draw.ts";
import type { Counts } from "./walk.ts";

/**
 * `first`: makes the tables, a step a migration; `then`: one migration, which is rolled back. `writes`: an application changes
 * rows in between.
 */
export async function thereAndBack(
  first: readonly Draft[],
  then: readonly Draft[],
  writes: boolean,
  counts: Counts,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "lance-migrate-"));
  const engine = await open({ kind: "lance", uri: folder }, { name: "local", folder });
  const { ledger } = memoryTarget({ name: "ledger", model: "embedded", tables: memoryTables() });
  const target: Target = { ...engine, ledger };
  const applied: Migration[] = [];
  const shown: string[] = [];
  const note = (what: string) => counts.set(what, (counts.get(what) ?? 0) + 1);
  try {
    const database = new Map<string, Table>();
    for (const draft of first) {
      const step = possible(draft, database);
      if (step === undefined) continue;
      const migration = aMigration(applied.length + 1, [step]);
      if ((await outcomeOf(() => up(optionsOf(target, [...applied, migration])))) !== undefined) break;
      shown.push(JSON.stringify(step));
      applied.push(migration);
      for (const action of compileStep(step)) change(database, tablesAfter(database, action));
    }
    const steps = then.flatMap((draft) => {
      const step = possible(draft, database);
      for (const action of step === undefined ? [] : compileStep(step)) change(database, tablesAfter(database, action));
      return step ?? [];
    });
    if (applied.length === 0 || steps.length === 0) return;
    shown.push("then", ...steps.map((step) => JSON.stringify(step)));
    const options = optionsOf(target, [...applied, aMigration(applied.length + 1, steps)]);
    const before = await seen(folder, target);
    const promised = await classesOf(options);
    if (promised === undefined) return;
    const stopped = await outcomeOf(() => up(options));
    if (writes) await write(folder);
    const after = await seen(folder, target);
    const refused = await outcomeOf(() => down(options, { to: applied.length }));
    const left = await seen(folder, target);
    const how = refused === undefined ? "back" : refused.code;
    note(`${stopped === undefined ? "done" : "stopped"}, ${[...promised].toSorted().join("+")}: ${how}`);
    if (refused !== undefined) checkRefusal(refused, promised, after, left, { writes, isHalf: stopped !== undefined });
    else if (writes) same("the columns before and after rolling it back", withoutRows(before), withoutRows(left));
    else same("before and after rolling it back", before, left);
  } catch (error) {
    throw new Error(`${(error as Error).message}\n\n${shown.join("\n")}`, { cause: error });
  } finally {
    await target.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What is promised is kept: it is refused for what was said before, and nothing has changed. */
function checkRefusal(
  error: MigrateError,
  promised: ReadonlySet<RollbackClass>,
  after: string,
  left: string,
  { writes, isHalf }: { readonly writes: boolean; readonly isHalf: boolean },
): void {
  same("the tables before and after a refusal", after, left);
  const mayRefuse: Partial<Record<string, readonly RollbackClass[]>> = {
    // A table that the migration makes and drops again is there for others to write to where it has stopped in between.
    ERR_ROLLBACK_BLOCKED: writes ? ["checked", "restore", ...(isHalf ? ["exact" as const] : [])] : ["checked"],
    ERR_IRREVERSIBLE: ["none"],
  };
  if (mayRefuse[error.code]?.some((one) => promised.has(one)) !== true)
    throw new Error(`${[...promised].join(", ")} was promised, and it ends with ${error.code}: ${error.message}`);
}

/** Makes one nullable column of each table null. */
async function write(folder: string): Promise<void> {
  const db = await connect({ uri: folder });
  for (const name of await db.tableNames()) {
    const table = await db.openTable(name);
    const column = (await readColumns(table)).find(({ nullable }) => nullable);
    // Some types the engine can't update.
    if (column !== undefined) await table.update({ valuesSql: { [column.name]: "null" } }).catch(() => undefined);
  }
  db.close();
}

function withoutRows(text: string): string {
  return textOf((JSON.parse(text) as readonly object[]).map((table) => ({ ...table, rows: undefined })));
}

/** The step that a draft means, where the model takes it. */
function possible(draft: Draft, database: ReadonlyMap<string, Table>): Step | undefined {
  const parsed = parseStep(JSON.parse(JSON.stringify(stepOf(draft, database))));
  if (!("step" in parsed)) return undefined;
  try {
    const copy = new Map(database);
    for (const action of compileStep(parsed.step)) change(copy, tablesAfter(copy, action));
    return parsed.step;
  } catch (error) {
    if (isMigrateError(error)) return undefined;
    throw error;
  }
}

function optionsOf(target: Target, migrations: readonly Migration[]): MigratorOptions {
  return {
    target,
    ledger: "_migrations",
    migrations: sourceOf(migrations),
    computing: embed.computing,
    lease: { duration: 600_000, patience: 0 },
  };
}

async function outcomeOf(work: () => Promise<unknown>): Promise<MigrateError | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (!isMigrateError(error)) throw error;
    return error;
  }
}

/** Undefined where it can't run at all. */
async function classesOf(options: MigratorOptions): Promise<ReadonlySet<RollbackClass> | undefined> {
  try {
    const { migrations } = await plan(options);
    return new Set(migrations.flatMap(({ actions }) => actions.map(({ rollback }) => rollback!.class)));
  } catch (error) {
    if (!isMigrateError(error)) throw error;
    return undefined;
  }
}

/** Every table with its columns, indexes and rows. */
async function seen(folder: string, target: Target): Promise<string> {
  const db = await connect({ uri: folder });
  const names = (await target.listTables()).toSorted();
  const tables = await Promise.all(
    names.map(async (name) => {
      const { columns, indexes = {} } = (await target.describeTable(name, true))!.table;
      const table = await db.openTable(name);
      // What a refresh has written follows from other columns, so rolling it back leaves it.
      const given = columns.filter(({ computed }) => computed === undefined).map((one) => one.name);
      const rows = await rowsOf(table, given);
      return {
        name,
        columns,
        indexes: Object.entries(indexes).toSorted(([one], [other]) => (one < other ? -1 : 1)),
        rows,
      };
    }),
  );
  db.close();
  return textOf(tables);
}

async function rowsOf(table: EngineTable, columns: readonly string[]): Promise<unknown> {
  try {
    const query = table.query().select(columns.map((name) => `\`${name.replaceAll("`", "``")}\``));
    return textOf(await query.toArray()).split("\n");
  } catch {
    // apache-arrow can't read every type.
    return await table.countRows();
  }
}

function textOf(value: unknown): string {
  return JSON.stringify(value, (_, one: unknown) => (typeof one === "bigint" ? `${one}` : sortedKeys(one)), 1);
}

function sortedKeys(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value) || "toJSON" in value) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

function same(what: string, one: string, other: string): void {
  if (one !== other) throw new Error(`${what}:\n${one}\n${other}`);
}

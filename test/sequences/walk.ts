/**
 * Walks through a sequence of steps: each is a migration that the real run applies on the embedded engine. The fold and the
 * engine have to agree after every one, also on what is refused. The ledger is in memory, for speed.
 */
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { embed } from "../../src/features/embed/feature.ts";
import { isMigrateError, type MigrateError } from "../../src/errors/migrate-error.ts";
import type { Migration } from "../../src/migrations/load.ts";
import { up } from "../../src/commands/up.ts";
import type { Action } from "../../src/actions/model/action.ts";
import { commitsOf, tablesAfter } from "../../src/actions/apply-action.ts";
import type { Column, DataType } from "../../src/schema/data-type.ts";
import { change, type Database, type Table } from "../../src/schema/table.ts";
import { compileStep, parseStep, type Step } from "../../src/steps/registry.ts";
import { open } from "../../src/targets/lance/lance.ts";
import { memoryTarget } from "../simulate/target/memory-target.ts";
import { memoryTables } from "../simulate/target/memory-tables.ts";
import type { Target } from "../../src/targets/contract/target.ts";
import { connect } from "../../src/engine/engine.ts";
import { aMigration } from "../simulate/history.ts";
import { stepOf, type Draft } from "./draw.ts";
import { excuse } from "./excuses.ts";
import { strictness } from "./strictness.ts";
import { sourceOf } from "../simulate/start-run.ts";

/** How often each kind of step was applied, refused by the fold, and refused by the engine for its rows. */
export type Counts = Map<string, number>;

const ledger = "_migrations";

/** How a step ended that the fold takes. */
const failures: Readonly<Record<string, string>> = { ERR_STEP_FAILED: "failed", ERR_STEP_WOULD_FAIL: "foreseen" };

/** Throws what fold and engine do not agree on, with the steps as they would stand in migrations. */
export async function walk(drafts: readonly Draft[], counts: Counts): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "lance-migrate-"));
  const engine = await open({ kind: "lance", uri: folder }, { name: "local", folder });
  const records = memoryTables();
  const target: Target = {
    ...engine,
    ledger: memoryTarget({ name: "ledger", model: "embedded", tables: records }).ledger,
  };
  const database = new Map<string, Table>();
  const applied: Migration[] = [];
  const shown: string[] = [];
  try {
    for (const draft of drafts) {
      const parsed = parseStep(JSON.parse(JSON.stringify(stepOf(draft, database))));
      if (!("step" in parsed)) continue;
      const { step } = parsed;
      shown.push(`  ${JSON.stringify(step)},`);
      const migration = aMigration(applied.length + 1, [step]);
      const before = await rowCounts(folder, database);
      const kept = records.get(ledger)?.rows ?? [];
      const outcome = await run([...applied, migration], target);
      if (outcome === undefined) {
        applied.push(migration);
        for (const action of compileStep(step)) change(database, tablesAfter(database, action));
      } else {
        await checkRefusal(outcome, step, { target, folder, database });
        // As if it had not been tried.
        const columns = records.get(ledger)?.columns;
        records.drop(ledger);
        if (columns !== undefined) records.create(ledger, columns, kept);
      }
      await checkTables(target, folder, database);
      await checkRows(step, before, await rowCounts(folder, database), outcome === undefined);
      const kind = `${step.kind} ${outcome === undefined ? "applied" : (failures[outcome.code] ?? "refused")}`;
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
    }
  } catch (error) {
    throw new Error(`${(error as Error).message}\n\nexport const up = [\n${shown.join("\n")}\n];`, { cause: error });
  } finally {
    await target.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What stopped the run, or undefined. */
async function run(migrations: readonly Migration[], target: Target): Promise<MigrateError | undefined> {
  try {
    await up({
      target,
      ledger,
      migrations: sourceOf(migrations),
      computing: embed.computing,
      lease: { duration: 600_000, patience: 0 },
    });
    return undefined;
  } catch (error) {
    if (!isMigrateError(error)) throw error;
    return error;
  }
}

interface Scene {
  readonly target: Target;
  readonly folder: string;
  readonly database: Database;
}

async function checkRefusal(error: MigrateError, step: Step, scene: Scene): Promise<void> {
  if (error.code === "ERR_UNSUPPORTED") return;
  if (error.code === "ERR_STEP_FAILED") {
    if (!(await excuse(step, scene.database, scene.folder)))
      throw new Error(`the fold takes what the engine refuses: ${error.message}`);
    return;
  }
  if (error.code === "ERR_STEP_WOULD_FAIL") {
    if (await takenByEngine(compileStep(step), scene))
      throw new Error(`the engine takes what is said to fail: ${error.message}`);
    return;
  }
  if (error.code !== "ERR_STEP_IMPOSSIBLE") throw error;
  const cause = error.cause as MigrateError;
  if (strictness(cause) !== undefined) return;
  const taken = await takenByEngine(compileStep(step), scene);
  if (taken) throw new Error(`the engine takes what the fold refuses: ${error.message}`);
}

/** Whether the engine carries out these actions, on a copy of the table, and can work with what it has made. */
async function takenByEngine(actions: readonly Action[], { target, folder, database }: Scene): Promise<boolean> {
  for (const given of actions) {
    const name = "copy";
    const action = database.has(given.table) && given.kind !== "createTable" ? { ...given, table: name } : given;
    if (action !== given)
      cpSync(join(folder, `${given.table}.lance`), join(folder, `${name}.lance`), { recursive: true });
    try {
      const able = (kind: Action["kind"]) => target.capabilities.actions[kind] === true;
      for (const { action: one } of commitsOf(action, database.get(given.table), able))
        await target.execute(one, await target.describeTable(one.table));
      await read(folder, name);
      await target.describeTable(name);
    } catch {
      return false;
    } finally {
      rmSync(join(folder, `${name}.lance`), { recursive: true, force: true });
    }
  }
  return true;
}

/** Exactly, where a run looks only at what it knows of: nobody else makes indexes or metadata here. */
async function checkTables(target: Target, folder: string, database: Database): Promise<void> {
  const names = (await target.listTables()).toSorted();
  same("the tables", [...database.keys()].toSorted(), names);
  for (const [name, expected] of database) {
    const found = (await target.describeTable(name, true))!.table;
    same(`the columns of ${name}`, expected.columns.map(plainColumn), found.columns.map(plainColumn));
    same(`the indexes of ${name}`, indexesOf(expected), indexesOf(found));
    await read(folder, name);
  }
}

/** Scans the table: some have a schema that reads well and can't be queried any more. */
async function read(folder: string, name: string): Promise<void> {
  const db = await connect({ uri: folder });
  const table = await db.openTable(name);
  await table.query().analyzePlan();
  db.close();
}

function same(what: string, expected: unknown, found: unknown): void {
  const [one, other] = [JSON.stringify(expected), JSON.stringify(found)];
  if (one !== other) throw new Error(`${what} are for the fold and for the engine:\n  ${one}\n  ${other}`);
}

function plainColumn({ name, type, nullable, metadata }: Column): unknown {
  const known = Object.entries(metadata ?? {}).filter(([, value]) => value !== null);
  return { name, type: plainType(type), nullable, metadata: known.toSorted() };
}

function plainType(type: DataType): unknown {
  if (type.kind === "struct") return { ...type, fields: type.fields.map(plainColumn) };
  if ("item" in type)
    return { kind: type.kind, length: "length" in type ? type.length : 0, item: plainColumn(type.item) };
  return Object.entries(type).toSorted();
}

function indexesOf({ indexes = {} }: Table): unknown {
  return Object.entries(indexes)
    .flatMap(([name, index]) => (index === null ? [] : [[name, index.path, index.kind]]))
    .toSorted();
}

async function rowCounts(folder: string, database: Database): Promise<ReadonlyMap<string, number>> {
  const db = await connect({ uri: folder });
  const counts = new Map<string, number>();
  for (const name of database.keys()) counts.set(name, await (await db.openTable(name)).countRows());
  db.close();
  return counts;
}

async function checkRows(
  step: Step,
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
  applied: boolean,
): Promise<void> {
  for (const [name, count] of after) {
    const was = before.get(name);
    const mayChange = applied && name === step.table && ["insertRows", "execute", "createTable"].includes(step.kind);
    if (was !== undefined && was !== count && !mayChange) throw new Error(`${name} had ${was} rows and has ${count}`);
  }
  if (step.kind === "createTable" && applied && after.get(step.table) !== (step.rows?.length ?? 0))
    throw new Error(`${step.table} has ${after.get(step.table)} rows instead of ${step.rows?.length ?? 0}`);
}

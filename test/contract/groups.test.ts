/** Migrations that run as groups, compared on the engine with the same migrations one by one. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "../support/fast-check.ts";
import { expect, test } from "vitest";
import type { Action } from "../../src/actions/model/action.ts";
import { up } from "../../src/commands/up.ts";
import { down } from "../../src/commands/down.ts";
import { history, status } from "../../src/commands/status.ts";
import { isMigrateError } from "../../src/errors/migrate-error.ts";
import { groupOf } from "../../src/ledger/state/record.ts";
import { migrationsIn } from "../../src/migrations/source.ts";
import type { RunEvent } from "../../src/run/events.ts";
import type { MigratorOptions } from "../../src/run/run-context.ts";
import type { Column } from "../../src/schema/data-type.ts";
import { formatPath } from "../../src/schema/path.ts";
import { columnPaths, type Database } from "../../src/schema/table.ts";
import { open } from "../../src/targets/lance/lance.ts";
import { anyColumns, columnName, leafType, typeNear } from "../support/drawn-tables.ts";
import { applyAction } from "../support/fold.ts";
import { temporaryFolder } from "../support/project.ts";
import { rounds } from "../support/rounds.ts";
import { lancedb, rowsOf } from "../support/tables.ts";

type Step = Readonly<Record<string, unknown>>;

const some: readonly Column[] = [
  { name: "id", type: { kind: "int32" }, nullable: false },
  { name: "a", type: { kind: "utf8" }, nullable: true },
  {
    name: "s",
    type: { kind: "struct", fields: [{ name: "x", type: { kind: "float32" }, nullable: true }] },
    nullable: true,
  },
];
const rows = [1, 2, 3].map((id) => ({ id, a: `text ${id}`, s: { x: id / 2 } }));
const first: readonly Step[] = [{ kind: "createTable", table: "t", columns: some, rows }];

/** A step that the model accepts, with the database after it; undefined if the drawn one can't work. */
function drawStep(
  draw: fc.GeneratorValue,
  database: Database,
): { readonly step: Step; readonly after: Database } | undefined {
  const table = draw(fc.constantFrom, "t", "u", "v");
  const now = database.get(table);
  const { step, action } = now === undefined ? drawCreate(draw, table) : drawChange(draw, table, now.columns);
  try {
    return { step, after: applyAction(database, action) };
  } catch (error) {
    if (isMigrateError(error)) return undefined;
    throw error;
  }
}

function drawCreate(draw: fc.GeneratorValue, table: string): { readonly step: Step; readonly action: Action } {
  const columns = draw(() => anyColumns);
  return { step: { kind: "createTable", table, columns }, action: { kind: "createTable", table, columns } };
}

function drawChange(
  draw: fc.GeneratorValue,
  table: string,
  columns: readonly Column[],
): { readonly step: Step; readonly action: Action } {
  const path = draw(fc.constantFrom<(readonly string[])[]>, ...columnPaths(columns));
  const alter = (step: Step, alteration: object): { readonly step: Step; readonly action: Action } => ({
    step: { ...step, table, path: formatPath(path) },
    action: { kind: "alterColumns", table, alterations: [{ path: formatPath(path), ...alteration }] },
  });
  const what = draw(fc.nat, { max: 5 });
  if (what <= 2) {
    const rename = draw(() => columnName);
    return alter({ kind: "renameColumn", name: rename }, { rename });
  }
  if (what === 3) {
    const nullable = draw(fc.boolean);
    return alter({ kind: "setNullable", nullable }, { nullable });
  }
  if (what === 4 && path.length === 1) {
    const type = draw(typeNear, columns.find(({ name }) => name === path[0])!.type);
    return alter({ kind: "retypeColumn", type }, { type });
  }
  const added = { name: draw(() => columnName), type: draw(() => leafType), nullable: true };
  return { step: { kind: "addColumn", table, ...added }, action: { kind: "addColumns", table, columns: [added] } };
}

/** Pending migrations after the first, of steps that the model accepts. */
function drawMigrations(draw: fc.GeneratorValue): readonly (readonly Step[])[] {
  let database: Database = applyAction(new Map(), { kind: "createTable", table: "t", columns: some });
  return Array.from({ length: draw(fc.integer, { min: 2, max: 8 }) }, () => {
    const steps: Step[] = [];
    for (let tries = 0; steps.length < 3 && tries < 6; tries++) {
      const drawn = drawStep(draw, database);
      if (drawn === undefined) continue;
      steps.push(drawn.step);
      database = drawn.after;
    }
    return steps;
  }).filter(({ length }) => length > 0);
}

async function aDatabase(folder: string, name: string): Promise<MigratorOptions & { readonly uri: string }> {
  const target = await open({ kind: "lance", uri: name }, { name, folder });
  const lease = { duration: 30_000, patience: 60_000 };
  return {
    target,
    migrations: migrationsIn(join(folder, "migrations")),
    ledger: "_migrations",
    lease,
    uri: join(folder, name),
  };
}

async function contentsOf({ target, uri }: MigratorOptions & { readonly uri: string }) {
  const names = (await target.listTables()).filter((name) => name !== "_migrations");
  return await Promise.all(
    names.toSorted().map(async (name) => {
      const table = (await target.describeTable(name, true))?.table;
      return { name, table, rows: await rowsOf(uri, name) };
    }),
  );
}

async function endOf(work: Promise<unknown>): Promise<unknown> {
  return await work.then(
    () => "well",
    (error: unknown) => (isMigrateError(error) ? error.code : error),
  );
}

test("groups leave the same tables, rows and ledger as one migration after the other, and can be rolled back", async () => {
  let [groups, grouped, all] = [0, 0, 0];
  await fc.assert(
    fc.asyncProperty(fc.gen(), async (draw) => {
      const folder = temporaryFolder();
      mkdirSync(join(folder, "migrations"));
      const write = (version: number, steps: readonly Step[]) =>
        writeFileSync(
          join(folder, "migrations", `${String(version).padStart(4, "0")}_m.mjs`),
          `export const up = ${JSON.stringify(steps)};\n`,
        );
      write(1, first);
      const [together, alone] = [await aDatabase(folder, "together"), await aDatabase(folder, "alone")];
      for (const one of [together, alone]) await up(one);
      const pending = drawMigrations(draw);
      for (const [index, steps] of pending.entries()) write(index + 2, steps);
      const end = await endOf(up(alone, { stepByStep: true, accept: ["lossy", "irreversible"] }));
      expect(await endOf(up(together, { accept: ["lossy", "irreversible"] }))).toBe(end);
      expect(await contentsOf(together)).toEqual(await contentsOf(alone));
      const appliedIn = async (one: MigratorOptions) =>
        (await status(one)).applied.map(({ version, name, checksum, step, total }) => ({
          version,
          name,
          checksum,
          step,
          total,
        }));
      expect(await appliedIn(together)).toEqual(await appliedIn(alone));
      const recorded = (await history(together)).flatMap((record) => groupOf(record) ?? []);
      groups += recorded.length > 0 ? 1 : 0;
      grouped += recorded.length;
      all += pending.length;
      if (end !== "well") return;
      const back = { to: 1, accept: ["lossy"] } as const;
      expect(await endOf(down(together, back))).toBe(await endOf(down(alone, back)));
      expect(await contentsOf(together)).toEqual(await contentsOf(alone));
      for (const one of [together, alone]) await one.target.close();
    }),
    { numRuns: rounds(6, 200) },
  );
  expect(groups).toBeGreaterThan(2);
  console.log(`${groups} histories with groups, of ${grouped} among ${all} migrations`);
});

const rename = (table: string, path: string, name: string) => ({ kind: "renameColumn", table, path, name });
const column = (name: string, nullable = true) => ({ name, type: { kind: "int32" }, nullable });
const columns = [column("id", false), column("a"), column("b")];

/** A database with `t(id, a, b)`, which has a row, and `u(id, a, b)`, and what writes its pending migrations. */
async function aDatabaseWithRow() {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "migrations"));
  const write = (version: number, steps: readonly Step[]) =>
    writeFileSync(join(folder, "migrations", `000${version}_m.mjs`), `export const up = ${JSON.stringify(steps)};\n`);
  const row = { id: 1, a: 1, b: null };
  write(1, [
    { kind: "createTable", table: "t", columns, rows: [row] },
    { kind: "createTable", table: "u", columns },
  ]);
  const options = await aDatabase(folder, "db");
  await up(options);
  return { options, write };
}

/** The same, with calls on `u` that fail. */
function failing(options: MigratorOptions): MigratorOptions {
  const { target } = options;
  const execute: typeof target.execute = async (action, seen) => {
    if (action.table === "u") throw new Error("no space left");
    return await target.execute(action, seen);
  };
  return { ...options, target: { ...target, execute } };
}

test("a table that is created with rows keeps them, although later migrations could be part of its group", async () => {
  const { options, write } = await aDatabaseWithRow();
  write(2, [{ kind: "createTable", table: "v", columns, rows: [{ id: 7, a: 8, b: 9 }] }]);
  write(3, [rename("v", "a", "x"), rename("t", "a", "x")]);
  write(4, [rename("v", "x", "y"), rename("t", "x", "y")]);
  await up(options);
  expect(await rowsOf(options.uri, "v")).toEqual([{ id: 7, y: 8, b: 9 }]);
});

test("after a group was stopped, questions about rows are asked of the columns as they are now", async () => {
  const { options, write } = await aDatabaseWithRow();
  write(2, [rename("t", "a", "x"), rename("t", "b", "a"), rename("u", "a", "y")]);
  write(3, [rename("t", "x", "b"), rename("u", "y", "z")]);
  // `b` was `a`, which holds no null.
  write(4, [{ kind: "setNullable", table: "t", path: "b", nullable: false }]);
  expect(await endOf(up(failing(options), { to: 3 }))).toBe("ERR_GROUP_FAILED");
  expect(await endOf(up(options))).toBe("well");
});

test("metadata that a call may have lost is reported once, and the group is finished", async () => {
  const { options, write } = await aDatabaseWithRow();
  write(2, [rename("t", "a", "x"), rename("t", "b", "y"), rename("u", "a", "y")]);
  write(3, [rename("u", "b", "w"), rename("u", "y", "z")]);
  expect(await endOf(up(failing(options)))).toBe("ERR_GROUP_FAILED");
  // Others write, and clean up the versions that would tell.
  const table = await (await lancedb.connect(options.uri)).openTable("t");
  await table.add([{ id: 2, x: 2, y: 2 }]);
  await table.optimize({ cleanupOlderThan: new Date() });
  // The call on `u` ends later, and loses nothing.
  const done = Promise.withResolvers<void>();
  const { target } = options;
  const execute: typeof target.execute = async (action, seen) => {
    if (action.table === "u") await done.promise;
    return await target.execute(action, seen);
  };
  const emit = (event: RunEvent) => event.event === "done" && event.text.startsWith("rename t.") && done.resolve();
  expect(await endOf(up({ ...options, target: { ...target, execute }, emit }))).toBe("ERR_METADATA_LOST");
  expect(await endOf(up(options))).toBe("well");
  expect((await status(options)).pending).toEqual([]);
});

/** Applications write while `down` computes the values of the old embedding model and switches back to them. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Table } from "@lancedb/lancedb";
import { expect, test } from "vitest";
import { embed } from "../../src/features/embed/feature.ts";
import { systemClock } from "../../src/time/clock.ts";
import { migrationsIn } from "../../src/migrations/source.ts";
import { down } from "../../src/commands/down.ts";
import { up } from "../../src/commands/up.ts";
import type { RunEvent } from "../../src/run/events.ts";
import type { MigratorOptions } from "../../src/run/run-context.ts";
import { int64, utf8, vector } from "../../src/schema/declare/type-builders.ts";
import { createTable, dropColumn, reembedColumn } from "../../src/steps/index.ts";
import { open as openLance } from "../../src/targets/lance/lance.ts";
import type { RowAccess } from "../../src/targets/contract/row-access.ts";
import type { Target } from "../../src/targets/contract/target.ts";
import { temporaryFolder } from "../support/project.ts";
import { lancedb, rowsOf } from "../support/tables.ts";

/** Vectors of the text's number. */
const embedder = (length: number) => `export default (rows) => rows.map(({ text }) => {
  const [, number] = text.split(" ");
  if (number === "13") throw new Error("no thirteen");
  return Array.from({ length: ${length} }, (_, at) => Number(number) + at);
});
`;

const oldVector = (number: number) => [number, number + 1];
const newVector = (number: number) => [number, number + 1, number + 2];

/** A table after the switch to a new model, whose migration has the option `down`. */
async function aScene(isStrict = false, more: readonly number[] = [], where?: string) {
  const folder = temporaryFolder();
  const files = join(folder, "migrations");
  mkdirSync(files);
  for (const length of [2, 3]) writeFileSync(join(folder, `code${length}.mjs`), embedder(length));
  const toFile = (file: string, step: object) =>
    writeFileSync(join(files, file), `export const up = ${JSON.stringify([step])};\n`);
  const embedding = isStrict ? vector(2).notNull() : vector(2);
  toFile("0001_create.mjs", createTable("docs", { id: int64().notNull(), text: utf8(), embedding }));
  const target = await openLance({ kind: "lance", uri: folder }, { name: "back", folder });
  const lease = { duration: 30_000, patience: 5_000 };
  const options: MigratorOptions = {
    target,
    migrations: migrationsIn(files),
    ledger: "_migrations",
    lease,
    folder,
    computing: embed.computing,
  };
  await up(options);
  const open = async () => await (await lancedb.connect(folder)).openTable("docs");
  const table = await open();
  const ids = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ...more];
  await table.add(ids.map((id) => ({ id, text: `text ${id}`, embedding: oldVector(id) })));
  const computing = {
    from: ["text"],
    key: "id",
    with: "./code3.mjs",
    version: "1",
    failedRows: "leave",
    where,
  } as const;
  const old = { with: "./code2.mjs", version: "1" };
  toFile("0002_model.mjs", reembedColumn("docs", "embedding", { ...computing, type: vector(3), down: old }));
  await up(options);
  return { folder, options, toFile, open };
}

interface Moments {
  readonly beforeSwitch?: () => Promise<unknown>;
  readonly afterSwitch?: () => Promise<unknown>;
  readonly whilePausing?: () => Promise<unknown>;
}

/** Rolls back while an application writes at these moments. Returns what the run has reported. */
async function rollBack(options: MigratorOptions, moments: Moments): Promise<readonly RunEvent[]> {
  const { target } = options;
  const pending: Record<string, (() => Promise<unknown>) | undefined> = { ...moments };
  const write = async (moment: keyof Moments) => {
    const due = pending[moment];
    delete pending[moment];
    await due?.();
  };
  const execute: Target["execute"] = async (action, seen) => {
    const isSwitch = action.kind === "alterColumns" && action.alterations.some(({ rename }) => rename === "embedding");
    if (isSwitch) await write("beforeSwitch");
    const version = await target.execute(action, seen);
    if (isSwitch) await write("afterSwitch");
    return version;
  };
  const { signal } = new AbortController();
  const clock = {
    ...systemClock,
    async sleep(duration: number, given?: AbortSignal) {
      // Other pauses of that length have a signal of their own.
      if (duration === 1_000 && given === signal) await write("whilePausing");
      else await systemClock.sleep(duration, given);
    },
  };
  const events: RunEvent[] = [];
  await down({ ...options, clock, signal, target: { ...target, execute }, emit: (event) => void events.push(event) });
  return events;
}

async function vectorsIn(folder: string): Promise<Readonly<Record<string, unknown>>> {
  const rows = (await rowsOf(folder, "docs")) as readonly { text: string; embedding: Iterable<number> | null }[];
  return Object.fromEntries(rows.map(({ text, embedding }) => [text, embedding && [...embedding]]));
}

function vectorsOf(numbers: readonly number[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(numbers.map((number) => [`text ${number}`, oldVector(number)]));
}

test("what is written just before and after the switch back, with the schema from before it, gets its old value", async () => {
  const { folder, options, open } = await aScene();
  const row = (id: number, number: number) => ({ id, text: `text ${number}`, embedding: newVector(number) });
  const update = async (table: Table, id: number) =>
    await table.update({ where: `id = ${id}`, values: { text: `text ${id * 10}` } });
  let stale: readonly [Table, Table, Table];
  await rollBack(options, {
    beforeSwitch: async () => {
      const table = await open();
      await update(table, 1);
      await table.add([row(12, 12)]);
      stale = [await open(), await open(), await open()];
    },
    afterSwitch: async () => {
      const merge = stale[0].mergeInsert("id").whenMatchedUpdateAll().whenNotMatchedInsertAll();
      await merge.execute([row(2, 20), row(13, 130)]);
    },
    whilePausing: async () => {
      await update(stale[1], 3);
      await stale[2].add([row(14, 14)]);
    },
  });
  expect(await vectorsIn(folder)).toEqual(vectorsOf([0, 10, 20, 30, 4, 5, 6, 7, 8, 9, 12, 130, 14]));
  const { fields } = await (await open()).schema();
  expect(fields.map(({ name }) => name)).toEqual(["id", "text", "embedding", "_lance_migrate_kept_embedding"]);
  await options.target.close();
});

test("a run that is interrupted while writes of others come first each time ends, and the next one continues", async () => {
  const { folder, options } = await aScene();
  const { target } = options;
  const interruption = new AbortController();
  let tries = 0;
  const execute: Target["execute"] = async (action, seen) => {
    if (action.kind !== "addColumns") return await target.execute(action, seen);
    if (++tries === 3) interruption.abort();
    throw new Error("Retryable commit conflict for version 7: preempted by concurrent transaction Append");
  };
  const run = down({ ...options, signal: interruption.signal, target: { ...target, execute } });
  await expect(run).rejects.toThrow("docs.embedding is prepared in part; run the same command to continue");
  expect(tries).toBe(3);
  await down(options);
  expect(await vectorsIn(folder)).toEqual(vectorsOf([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]));
  await options.target.close();
});

test("marks of old values that others' commits prevent from being added at once are merged, and others stay as they are", async () => {
  const { folder, options, open } = await aScene(false, [10, 11]);
  writeFileSync(join(folder, "code2.mjs"), embedder(2).replace("Number(number) + at", "1_000"));
  const table = await open();
  const { target } = options;
  let tries = 0;
  const execute: Target["execute"] = async (action, seen) => {
    if (action.kind !== "addColumns") return await target.execute(action, seen);
    if (action.columns.some(({ as }) => as !== undefined)) {
      tries++;
      throw new Error("Retryable commit conflict for version 7: preempted by concurrent transaction Append");
    }
    const version = await target.execute(action, seen);
    await table.update({ where: "id = 3", values: { text: "text 33" } });
    await table.delete("id = 11");
    return version;
  };
  let merges = 0;
  const update: RowAccess["update"] = async (...given) => {
    if (++merges === 1) {
      await table.delete("id = 2");
      await table.add([{ id: 2, text: "text 2", embedding: newVector(2) }]);
    }
    return await target.rows!.update(...given);
  };
  await down({ ...options, target: { ...target, execute, rows: { ...target.rows!, update } } });
  expect(tries).toBe(2);
  const computed = { "text 2": [1_000, 1_000], "text 33": [1_000, 1_000] };
  expect(await vectorsIn(folder)).toEqual({ ...vectorsOf([0, 1, 4, 5, 6, 7, 8, 9, 10]), ...computed });
  await options.target.close();
});

test("if writes of others come first each time, marks are neither added nor merged without end, nor after an interrupt", async () => {
  const {
    folder,
    options,
    options: { target },
  } = await aScene();
  const conflict = new Error("Too many concurrent writers. Attempted 10 retries.");
  const calls = { add: 0, merge: 0 };
  const interruption = new AbortController();
  const execute: Target["execute"] = async (action, seen) => {
    if (action.kind !== "addColumns" || action.columns.every(({ as }) => as === undefined))
      return await target.execute(action, seen);
    calls.add++;
    throw conflict;
  };
  const update: RowAccess["update"] = async () => {
    if (++calls.merge > 3) interruption.abort();
    return await Promise.reject(conflict);
  };
  const given = { ...options, target: { ...target, execute, rows: { ...target.rows!, update } } };
  await expect(down(given)).rejects.toThrow("writes of others came first each time");
  expect(calls).toEqual({ add: 2, merge: 3 });
  await expect(down({ ...given, signal: interruption.signal })).rejects.toThrow("docs.embedding is prepared in part");
  expect(calls).toEqual({ add: 4, merge: 4 });
  await down(options);
  expect(await vectorsIn(folder)).toEqual(vectorsOf([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]));
  await target.close();
});

test("rows that get no old value after the switch back are reported", async () => {
  const { folder, options, open } = await aScene();
  const change = async () => await (await open()).update({ where: "id = 1", values: { text: "text 13" } });
  const events = await rollBack(options, { beforeSwitch: change });
  expect(events.filter(({ event }) => event === "notComputed")).toEqual([
    { event: "notComputed", table: "docs", path: "embedding", rows: 1, problem: "no thirteen" },
  ]);
  // It keeps the one of its former text.
  expect(await vectorsIn(folder)).toEqual({ ...vectorsOf([0, 2, 3, 4, 5, 6, 7, 8, 9]), "text 13": oldVector(1) });
  await options.target.close();
});

test("a row that was written since and can't be computed has no old value, or that of its former text", async () => {
  const { folder, options, open } = await aScene();
  const table = await open();
  await table.update({ where: "id = 1", values: { text: "text 13" } });
  await table.add([{ id: 12, text: "text 13 too", embedding: newVector(13) }]);
  const events = await rollBack(options, {});
  expect(events.filter(({ event }) => event === "notComputed")).toMatchObject([{ rows: 2, problem: "no thirteen" }]);
  const others = vectorsOf([0, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(await vectorsIn(folder)).toEqual({ ...others, "text 13": oldVector(1), "text 13 too": null });
  await options.target.close();
});

test("old values of texts that nobody has changed since stay, whatever the old code gives today", async () => {
  const { folder, options, open } = await aScene();
  const marks = "_lance_migrate_kept_embedding_old";
  const names = async () => (await (await open()).schema()).fields.map(({ name }) => name);
  expect(await names()).toEqual(["id", "text", "embedding_old", "embedding", marks]);
  writeFileSync(join(folder, "code2.mjs"), embedder(2).replace("Number(number) + at", "1_000"));
  writeFileSync(join(folder, "code3.mjs"), "edited");
  const table = await open();
  await table.update({ where: "id = 3", values: { text: "text 33" } });
  // An application that still writes the old values, as one that has not noticed the switch does.
  await table.update({ where: "id = 4", values: { embedding_old: [44, 45] } });
  await table.add([
    { id: 12, text: "text 12", embedding: newVector(12) },
    { id: 15, text: "text 15", embedding: newVector(15), embedding_old: oldVector(15) },
  ]);
  await rollBack(options, {});
  const others = vectorsOf([0, 1, 2, 5, 6, 7, 8, 9]);
  // Nothing shows whether a row that was added since has the old value of its present text.
  const computed = { "text 12": [1_000, 1_000], "text 15": [1_000, 1_000], "text 33": [1_000, 1_000] };
  expect(await vectorsIn(folder)).toEqual({ ...others, ...computed, "text 4": [44, 45] });
  expect(await names()).toEqual(["id", "text", "embedding", "_lance_migrate_kept_embedding"]);
  await options.target.close();
});

test("rows without a new value keep their old one", async () => {
  const { folder, options } = await aScene(false, [10, 13]);
  writeFileSync(join(folder, "code2.mjs"), "export default () => { throw new Error('not today'); };");
  expect(await rollBack(options, {})).not.toContainEqual(expect.objectContaining({ event: "notComputed" }));
  expect(await vectorsIn(folder)).toEqual(vectorsOf([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 13]));
  await options.target.close();
});

test("old values of rows that `where` leaves out stay when it is rolled back", async () => {
  const { folder, options } = await aScene(false, [], "id <> 4");
  await rollBack(options, {});
  expect(await vectorsIn(folder)).toEqual(vectorsOf([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]));
  await options.target.close();
});

test("the marks of a column of old values go with it", async () => {
  const { options, toFile, open } = await aScene();
  toFile("0003_drop.mjs", dropColumn("docs", "embedding_old"));
  await up(options);
  expect((await (await open()).schema()).fields.map(({ name }) => name)).toEqual(["id", "text", "embedding"]);
  await options.target.close();
});

test("without the marks, as an earlier release left it, the old values of all rows are computed again", async () => {
  const { folder, options, open } = await aScene(false, [13]);
  const table = await open();
  await table.dropColumns(["_lance_migrate_kept_embedding_old"]);
  await table.update({ where: "id = 3", values: { text: "text 33" } });
  await table.add([{ id: 12, text: "text 12", embedding: newVector(12) }]);
  await rollBack(options, {});
  expect(await vectorsIn(folder)).toEqual(vectorsOf([0, 1, 2, 33, 4, 5, 6, 7, 8, 9, 12, 13]));
  await options.target.close();
});

test("a column that was not null is not null again once all rows have their old value", async () => {
  const { folder, options, open } = await aScene(true);
  const add = async () => await (await open()).add([{ id: 12, text: "text 12", embedding: newVector(12) }]);
  await rollBack(options, { beforeSwitch: add });
  expect(await vectorsIn(folder)).toEqual(vectorsOf([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12]));
  expect((await (await open()).schema()).fields.at(-2)).toMatchObject({ name: "embedding", nullable: false });
  await options.target.close();
});

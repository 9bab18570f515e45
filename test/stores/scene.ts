/** A project whose tables are in an object store, and its tables as the engine's own client reads them. */
import { expect } from "vitest";
import { readColumns } from "../../src/engine/engine.ts";
import { formatType } from "../../src/schema/data-type.ts";
import { aProject, type Finished, type Project } from "../support/project.ts";
import type { StorageOptions } from "../support/stores/program.ts";
import type { Store } from "../support/stores/store.ts";
import { lancedb } from "../support/tables.ts";

export interface StoreProject extends Project {
  readonly uri: string;
  /** Runs a command that has to succeed. Returns what it prints. */
  run(...args: readonly string[]): Promise<string>;
}

interface Place {
  readonly uri?: string;
  readonly options?: StorageOptions;
}

export function aProjectIn(
  store: Store,
  { uri = store.place(), options = store.storageOptions }: Place = {},
): StoreProject {
  const project = aProject("shared");
  const target = { kind: "lance", uri, storageOptions: options };
  project.write("migrate.config.mjs", `export default ${JSON.stringify({ targets: { store: target } })};\n`);
  const run = async (...args: readonly string[]) => {
    const finished = await project.migrate(args);
    expect(finished, `${args.join(" ")}: ${finished.stderr}`).toMatchObject({ code: 0 });
    return finished.stdout;
  };
  return { ...project, uri, run };
}

/** Three migrations that a second run would spoil or that it would refuse. */
export function writeFew(project: Project): void {
  project.migration(
    "0001_create.ts",
    `m.createTable("documents", {
       id: m.int32().notNull(),
       title: m.utf8(),
       source: m.struct({ url: m.utf8(), fetched: m.utf8() }),
       score: m.float32(),
       tags: m.list(m.utf8()),
     }),
     m.createTable("swapped", { id: m.int32(), one: m.int32(), two: m.int32() }),`,
  );
  project.migration(
    "0002_rows.ts",
    `m.insertRows("documents", [
       { id: 1, title: "first", source: { url: "u1", fetched: "f1" }, score: 0.5, tags: ["a", "b"] },
       { id: 2, title: "second", source: { url: "u2", fetched: "f2" }, score: 1.5, tags: [] },
       { id: 3, title: null, source: null, score: null, tags: null },
     ], { key: "id" }),
     m.insertRows("swapped", [{ id: 1, one: 1, two: 2 }], { key: "id" }),`,
  );
  project.migration(
    "0003_names.ts",
    `m.renameColumn("documents", "title", "headline"),
     m.renameColumn("documents", "source.fetched", "fetched_at"),
     m.alterColumns("swapped", [{ path: "one", rename: "two" }, { path: "two", rename: "one" }]),`,
  );
}

/** The same and two more, of many other kinds. */
export function writeAll(project: Project): void {
  writeFew(project);
  project.migration(
    "0004_wider.ts",
    `m.retypeColumn("documents", "id", m.int64()),
     m.addColumn("documents", "length", m.int32(), { as: "character_length(headline)" }),
     m.createIndex("documents", "id", m.btree()),`,
  );
  project.write(
    "migrations/0005_changes.ts",
    `import * as m from "lance-migrate";
     export const accepts = ["lossy"];
     export const up = [
       m.execute("documents", { update: { headline: "'none'" }, where: "headline is null" }),
       m.setNullable("documents", "headline", false),
       m.dropColumn("documents", "score"),
     ];`,
  );
}

const swapped = { columns: ["id: int32", "two: int32", "one: int32"], rows: [{ id: 1, two: 1, one: 2 }], indexes: [] };

/** What the tables hold after three migrations. */
export const afterFew = {
  documents: {
    columns: [
      "id: int32 not null",
      "headline: utf8",
      "source: struct<url: utf8, fetched_at: utf8>",
      "score: float32",
      "tags: list<utf8>",
    ],
    rows: [
      { id: 1, headline: "first", source: { url: "u1", fetched_at: "f1" }, score: 0.5, tags: ["a", "b"] },
      { id: 2, headline: "second", source: { url: "u2", fetched_at: "f2" }, score: 1.5, tags: [] },
      { id: 3, headline: null, source: null, score: null, tags: null },
    ],
    indexes: [],
  },
  swapped,
};

/** What they hold after all. */
export const afterAllOfThem = {
  documents: {
    columns: [
      "id: int64 not null",
      "headline: utf8 not null",
      "source: struct<url: utf8, fetched_at: utf8>",
      "tags: list<utf8>",
      "length: int32",
    ],
    rows: [
      { id: 1, headline: "first", source: { url: "u1", fetched_at: "f1" }, tags: ["a", "b"], length: 5 },
      { id: 2, headline: "second", source: { url: "u2", fetched_at: "f2" }, tags: [], length: 6 },
      { id: 3, headline: "none", source: null, tags: null, length: null },
    ],
    indexes: ["id"],
  },
  swapped,
};

/** The tables without the ledger: their columns, their rows by id, and their indexed columns. */
export async function contentOf(store: Store, uri: string): Promise<Readonly<Record<string, unknown>>> {
  const db = await lancedb.connect(uri, { storageOptions: { ...store.storageOptions } });
  const names = (await db.tableNames()).filter((name) => name !== "_migrations");
  return Object.fromEntries(
    await Promise.all(
      names.map(async (name) => {
        const table = await db.openTable(name);
        const columns = await readColumns(table);
        const rows = (await table.query().toArray()).map(plain) as readonly { readonly id: number }[];
        const indexes = (await table.listIndices()).flatMap((index) => index.columns);
        return [
          name,
          {
            columns: columns.map((one) => `${one.name}: ${formatType(one.type)}${one.nullable ? "" : " not null"}`),
            rows: rows.toSorted((one, other) => one.id - other.id),
            indexes,
          },
        ];
      }),
    ),
  );
}

function plain(row: unknown): unknown {
  return JSON.parse(JSON.stringify(row, (_, value) => (typeof value === "bigint" ? Number(value) : value)));
}

/** Requires that each migration took effect once, and that the ledger, the tables and every value show it. */
export async function requireMigrated(store: Store, project: StoreProject, tables: object = afterFew): Promise<void> {
  expect(await contentOf(store, project.uri)).toEqual(tables);
  expect(await project.run("up")).toBe("nothing to do\n");
  await project.run("verify");
  await project.run("verify", "--ledger");
}

/** The migrations that runs have applied, from their events. */
export function appliedBy(runs: readonly Finished[]): readonly number[] {
  return runs
    .flatMap(({ stdout }) => stdout.split("\n").filter((line) => line !== ""))
    .map((line) => JSON.parse(line) as { readonly event: string; readonly version: number })
    .filter(({ event }) => event === "applied")
    .map(({ version }) => version)
    .toSorted((one, other) => one - other);
}

/** Documents whose embedding model a migration changes, and two models whose vectors have the same length. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { embed } from "../../src/features/embed/feature.ts";
import { migrationsIn } from "../../src/migrations/source.ts";
import { up } from "../../src/commands/up.ts";
import type { MigratorOptions } from "../../src/run/run-context.ts";
import { int64, utf8, vector } from "../../src/schema/declare/type-builders.ts";
import { createTable, reembedColumn } from "../../src/steps/index.ts";
import type { Target } from "../../src/targets/contract/target.ts";
import { open as openLance } from "../../src/targets/lance/lance.ts";
import { temporaryFolder } from "../support/project.ts";
import { lancedb, rowsOf } from "../support/tables.ts";
import { vectorOf } from "../support/vector-of.ts";

export interface Document {
  readonly id: number;
  readonly title: string | null;
}

export const [oldModel, newModel] = ["", "bge"] as const;

/** By the version that the column names. */
export const vectorsBy: Readonly<Record<string, (title: string | null) => readonly number[]>> = {
  [oldModel]: (title) => vectorOf(title ?? "").slice(0, 2),
  [newModel]: (title) => vectorOf(title ?? "").slice(2, 4),
};

/** Code of a migration: gives these numbers of `vectorOf`. */
const code = (from: number, to: number) => `import { createHash } from "node:crypto";

export default (rows) => rows.map(({ title }) => [...createHash("sha256").update(title ?? "").digest().subarray(${from}, ${to})]);
`;

/**
 * A table with documents of the old model, and a migration that changes it and can be rolled back. `beforeSwitch` is called
 * just before the columns are switched. `length`: that of the new vectors.
 */
export async function aScene(titles: readonly string[], beforeSwitch = async (): Promise<void> => {}, length = 2) {
  const folder = temporaryFolder();
  const files = join(folder, "migrations");
  mkdirSync(files);
  writeFileSync(join(folder, "old.mjs"), code(0, 2));
  writeFileSync(join(folder, "new.mjs"), code(2, 2 + length));
  const toFile = (file: string, step: object) =>
    writeFileSync(join(files, file), `export const up = ${JSON.stringify([step])};\n`);
  toFile("0001_create.mjs", createTable("docs", { id: int64().notNull(), title: utf8(), embedding: vector(2) }));
  const target = await openLance({ kind: "lance", uri: folder }, { name: "app", folder });
  onTestFinished(async () => await target.close());
  const options: MigratorOptions = {
    target: heralding(target, beforeSwitch),
    migrations: migrationsIn(files),
    ledger: "_migrations",
    computing: embed.computing,
    lease: { duration: 30_000, patience: 5_000 },
    folder,
  };
  await up(options);
  const open = async () => await (await lancedb.connect(folder)).openTable("docs");
  const embedding = (title: string) => [...vectorsBy[oldModel]!(title)];
  await (await open()).add(titles.map((title, id) => ({ id, title, embedding: embedding(title) })));
  const step = reembedColumn("docs", "embedding", {
    type: vector(length),
    from: ["title"],
    key: "id",
    with: "./new.mjs",
    version: newModel,
    down: { with: "./old.mjs", version: "1" },
  });
  return { folder, options, open, pend: () => toFile("0002_model.mjs", step) };
}

/** Calls `beforeSwitch` before the columns are switched. */
function heralding(target: Target, beforeSwitch: () => Promise<void>): Target {
  return {
    ...target,
    async execute(action, seen) {
      const isBack = action.kind === "alterColumns" && action.alterations.some(({ rename }) => rename === "embedding");
      if (isBack || action.kind === "switchColumn") await beforeSwitch();
      return await target.execute(action, seen);
    },
  };
}

/** What each document has, by its id. */
export async function documentsIn(folder: string) {
  const rows = (await rowsOf(folder, "docs")) as unknown as readonly (Document & { embedding: number[] | null })[];
  return rows.toSorted((one, other) => one.id - other.id).map(({ id, title, embedding }) => ({ id, title, embedding }));
}

/** These documents with the vectors of a model. */
export function embedded(documents: readonly Document[], model: string) {
  return documents.map(({ id, title }) => ({ id, title, embedding: [...vectorsBy[model]!(title)] }));
}

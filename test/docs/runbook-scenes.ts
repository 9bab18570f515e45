/** What the sections of docs/runbook.md take for granted: migrations of which some are applied, and a table that was changed. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { addRows, lancedb } from "../support/tables.ts";
import type { Scene } from "./scenes.ts";

type Setting = Parameters<Scene>[0];

const migrations: Readonly<Record<string, string>> = {
  "0001_create_documents.ts": `m.createTable("documents", { id: m.int32().notNull(), title: m.utf8(), published: m.utf8(), score: m.float32() })`,
  "0002_years.ts": `m.addColumn("documents", "year", m.int32()), m.execute("documents", { update: { year: "try_cast(published as int)" } })`,
  "0003_titles.ts": `m.renameColumn("documents", "title", "headline"), m.createIndex("documents", "id", m.btree())`,
  "0004_scores.ts": `m.retypeColumn("documents", "score", m.float64())`,
  "0005_codes.ts": `m.addColumn("documents", "code", m.utf8())`,
};

async function openDocuments({ project }: Setting) {
  return await (await lancedb.connect(project.database)).openTable("documents");
}

/** All migrations are written, and the first one is applied to a table with rows. */
async function begun({ project, migrate }: Setting): Promise<void> {
  for (const [name, steps] of Object.entries(migrations)) project.migration(name, steps);
  await migrate("up", "--to", "1");
  const rows = Array.from({ length: 1000 }, (_, id) => ({ id, title: `t ${id}`, published: "1990", score: id / 10 }));
  await addRows(project.database, "documents", [...rows.slice(1), { ...rows[0]!, published: "n/a" }]);
}

async function all(setting: Setting): Promise<void> {
  await begun(setting);
  await setting.migrate("up", "--accept", "lossy");
}

function remove({ project }: Setting, ...names: readonly string[]): void {
  for (const name of names) rmSync(join(project.folder, "migrations", name));
}

export const runbookScenes: Readonly<Record<string, Scene>> = {
  "docs/runbook.md#a-step-failed": async (setting) => {
    await begun(setting);
    remove(setting, "0003_titles.ts", "0004_scores.ts", "0005_codes.ts");
    const steps = migrations["0002_years.ts"]!.replace("try_cast", "cast");
    setting.project.write(
      "migrations/0002_years.ts",
      `import * as m from "lance-migrate";\nexport const accepts = ["lossy"];\nexport const up = [${steps}];\n`,
    );
  },
  "docs/runbook.md#if-none-of-its-actions-is-done": async (setting) => {
    await begun(setting);
    remove(setting, "0002_years.ts", "0003_titles.ts", "0004_scores.ts", "0005_codes.ts");
    const add = (name: string, type: string, as: string) =>
      `m.addColumn("documents", "${name}", ${type}, { as: "${as}" })`;
    setting.project.migration("0002_lengths.ts", add("length", "m.int64()", "length(title)"));
    setting.project.migration("0003_years.ts", add("year", "m.int32()", "cast(published as int)"));
  },
  "docs/runbook.md#it-is-unknown-what-was-written": async (setting) => {
    await begun(setting);
    remove(setting, "0003_titles.ts", "0004_scores.ts", "0005_codes.ts");
    const steps = migrations["0002_years.ts"]!;
    setting.project.migration("0002_years.ts", steps.replace("try_cast", "cast"));
    expect(await setting.project.migrate(["up", "--accept", "lossy"])).toMatchObject({ code: 1 });
    // The row is fixed while the migration is half done.
    await (await openDocuments(setting)).update({ where: "id = 0", values: { published: "1990" } });
    await setting.migrate("up", "--accept", "lossy");
  },
  "docs/runbook.md#a-table-was-dropped-by-hand": async (setting) => {
    await all(setting);
    await (await lancedb.connect(setting.project.database)).dropTable("documents");
  },
  "docs/runbook.md#rolling-back-the-last-release": async (setting) => {
    await begun(setting);
    remove(setting, "0005_codes.ts");
    await setting.migrate("up", "--to", "2", "--accept", "lossy");
    const row = { title: "new", published: "2026", score: 1, year: 2026 };
    await addRows(setting.project.database, "documents", [
      { id: 2000, ...row },
      { id: 2001, ...row },
    ]);
    await setting.migrate("up");
  },
  "docs/runbook.md#a-table-was-restored-from-a-backup-or-an-old-version": async (setting) => {
    await begun(setting);
    await setting.migrate("up", "--to", "2", "--accept", "lossy");
    const version = await (await openDocuments(setting)).version();
    await setting.migrate("up");
    const table = await openDocuments(setting);
    // After the rename of the third migration.
    await table.checkout(version + 1);
    await table.restore();
  },
};

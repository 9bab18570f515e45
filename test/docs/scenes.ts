/** What a section of the documentation takes for granted: the files and rows that exist before its first command. */
import { execFileSync } from "node:child_process";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { strictConfig } from "../support/type-check.ts";
import type { Project } from "../support/project.ts";
import { addRows, lancedb } from "../support/tables.ts";
import { runbookScenes } from "./runbook-scenes.ts";

export type Scene = (scene: Setting) => void | Promise<void>;

interface Setting {
  readonly project: Project;
  /** Runs the command, which must succeed. */
  readonly migrate: (...args: readonly string[]) => Promise<void>;
}

const numbered = (count: number) => Array.from({ length: count }, (_, id) => id);

/** Documents with a headline and a score. */
const documents = (name: string, count: number): Scene => {
  const columns = `{ id: m.int64().notNull(), headline: m.utf8(), score: m.float32() }`;
  return async ({ project, migrate }) => {
    project.migration(name, `m.createTable("documents", ${columns})`);
    await migrate("up");
    const rows = numbered(count).map((id) => ({ id: BigInt(id), headline: `On ${id}`, score: id / 8 }));
    if (count > 0) await addRows(project.database, "documents", rows);
  };
};

const widen: Scene = async (scene) => {
  await documents("0008_documents.ts", 20_000)(scene);
  const steps = `m.renameColumn("documents", "headline", "title"), m.dropColumn("documents", "score")`;
  scene.project.migration("0009_widen.ts", steps);
};

/** Makes the tables of a project look as if something other than a migration had created them. */
function forgetMigrations({ folder }: Project, database: string): void {
  const ledgers = readdirSync(database).filter((name) => name.startsWith("_migrations"));
  for (const path of [...ledgers.map((name) => join(database, name)), join(folder, "migrations")])
    rmSync(path, { recursive: true, force: true });
}

const notes = (project: Project) => {
  const columns = `{ id: m.int64().notNull(), text: m.utf8(), vector: m.vector(8) }`;
  project.migration("0001_adopt.ts", `m.createTable("notes", ${columns})`);
};

/** Two migrations whose types TypeScript knows. */
const typed: Scene = async ({ project, migrate }) => {
  const source = `m.struct({ url: m.utf8(), fetched: m.utf8() })`;
  const columns = `{ id: m.int64().notNull(), title: m.utf8(), source: ${source}, embedding: m.vector(8) }`;
  project.migration("0001_create_documents.ts", `m.createTable("documents", ${columns})`);
  project.migration("0002_headlines.ts", `m.renameColumn("documents", "title", "headline")`);
  project.write("tsconfig.json", strictConfig);
  await migrate("types");
};

/** By section. The tests run one in a project of its own. */
export const scenes: Readonly<Record<string, Scene>> = {
  ...runbookScenes,
  "docs/get-started.md#the-first-migrations": ({ project }) => project.write("package.json", `{ "type": "commonjs" }`),
  "docs/embedding-model.md#deploying-the-application": ({ project }) => {
    const rows = "rows: { title: string | null; body: string | null }[]";
    for (const name of ["small", "bge-m3"])
      project.write(`embedders/${name}.ts`, `export default async (${rows}) => rows.map(() => [1, 2]);\n`);
  },
  "docs/plans.md": async (scene) => {
    await documents("0005_documents.ts", 20_000)(scene);
    scene.project.migration("0006_require_headlines.ts", `m.setNullable("documents", "headline", false)`);
    scene.project.migration("0007_finer_scores.ts", `m.retypeColumn("documents", "score", m.float64())`);
  },
  "docs/contracts.md#a-contract": ({ project }) =>
    project.migration("0001_documents.ts", `m.createTable("documents", { id: m.int64().notNull(), title: m.utf8() })`),
  "docs/contracts.md#changes-that-break-no-release": async ({ project, migrate }) => {
    const target = `{ kind: "lance", uri: ".lancedb", contracts: "contracts" }`;
    project.write("migrate.config.ts", `export default { targets: { production: ${target} } };\n`);
    const columns = { id: "int64 not null", title: "utf8" };
    const tables = { documents: { reads: columns, writes: columns, appends: true } };
    const contract = { format: 1, application: "search", release: "1.4.0", tables };
    project.write("contracts/search.json", JSON.stringify(contract));
    project.migration("0001_documents.ts", `m.createTable("documents", { id: m.int64().notNull(), title: m.utf8() })`);
    await migrate("up");
    project.migration("0002_headlines.ts", `m.renameColumn("documents", "title", "headline")`);
  },
  "docs/plans.md#groups-in-a-plan": async (scene) => {
    await documents("0007_documents.ts", 0)(scene);
    const rename = (from: string, to: string) => `m.renameColumn("documents", "${from}", "${to}")`;
    scene.project.migration("0008_title.ts", rename("headline", "title"));
    scene.project.migration("0009_name.ts", rename("title", "name"));
    scene.project.migration("0010_byline.ts", rename("name", "byline"));
  },
  "docs/plans.md#saving-a-plan": async (scene) => {
    await documents("0007_documents.ts", 1)(scene);
    scene.project.migration("0008_rename.ts", `m.renameColumn("documents", "headline", "title")`);
  },
  "docs/steps.md#retypes": async ({ project, migrate }) => {
    const steps = [
      `m.createTable("documents", { id: m.int64().notNull(), words: m.int32() })`,
      `m.createIndex("documents", "words", m.btree())`,
      `m.setMetadata("documents", "words", { unit: "word" })`,
    ];
    project.migration("0001_documents.ts", steps.join(",\n"));
    await migrate("up");
    await addRows(
      project.database,
      "documents",
      numbered(1_000).map((id) => ({ id: BigInt(id), words: id })),
    );
    project.migration("0002_wider.ts", `m.retypeColumn("documents", "words", m.int64())`);
  },
  "docs/steps.md#recall": async ({ project, migrate }) => {
    project.migration("0001_documents.ts", `m.createTable("documents", { id: m.int64(), embedding: m.vector(8) })`);
    await migrate("up");
    const rows = numbered(1_000).map((id) => ({
      id: BigInt(id),
      embedding: numbered(8).map((axis) => Math.sin(id * (axis + 1))),
    }));
    await addRows(project.database, "documents", rows);
    const index = `m.ivfFlat({ distanceType: "cosine", numPartitions: 1 })`;
    project.migration("0002_index.ts", `m.createIndex("documents", "embedding", ${index}, { minRecall: 0.95 })`);
    await migrate("up");
  },
  "docs/internals/ledger.md#the-changes-to-a-column": async ({ project, migrate }) => {
    project.migration("0001_documents.ts", `m.createTable("documents", { id: m.int64(), title: m.utf8() })`);
    await migrate("up");
    project.migration("0007_headlines.ts", `m.renameColumn("documents", "title", "headline")`);
    await migrate("up");
    project.migration("0012_required.ts", `m.setNullable("documents", "headline", false)`);
    await migrate("up");
  },
  "docs/report.md": documents("0001_documents.ts", 1),
  "docs/steps.md#deferred-indexes": ({ project }) => {
    const create = `m.createTable("documents", { id: m.int64().notNull(), embedding: m.vector(768) })`;
    project.migration("0001_documents.ts", `${create},\nm.createIndex("documents", "embedding", m.ivfPq())`);
  },
  "docs/rollback.md": async (scene) => {
    await documents("0007_documents.ts", 1)(scene);
    scene.project.migration("0008_rename.ts", `m.renameColumn("documents", "headline", "title")`);
    await scene.migrate("up");
  },
  "docs/rollback.md#what-counts-as-written": async (scene) => {
    await documents("0001_documents.ts", 10)(scene);
    scene.project.migration("0002_drop.ts", `m.dropColumn("documents", "score")`);
    await scene.migrate("up", "--accept", "lossy");
    const rows = numbered(1_000).map((id) => ({ id: BigInt(100 + id), headline: `On ${id}` }));
    await addRows(scene.project.database, "documents", rows);
  },
  "docs/rollback.md#classes": widen,
  "docs/rollback.md#rehearsing": widen,
  "docs/authoring.md#from-a-declared-schema": ({ project }) => {
    const columns = `{ id: m.int32().notNull(), title: m.utf8(), embedding: m.vector(768) }`;
    project.migration("0001_create_documents.ts", `m.createTable("documents", ${columns})`);
  },
  "docs/adopting.md#from-tables-to-the-first-migration": async ({ project, migrate }) => {
    const columns = `{ id: m.int64().notNull(), title: m.utf8(), embedding: m.vector(768) }`;
    const tables = `m.createTable("documents", ${columns}), m.createTable("authors", { name: m.utf8().notNull() })`;
    project.migration("0001_tables.ts", `${tables}, m.createIndex("documents", "id", m.btree())`);
    await migrate("up");
    const embedding = (id: number) => numbered(768).map((axis) => Math.sin((id + 1) * (axis + 1)));
    const rows = numbered(256).map((id) => ({ id: BigInt(id), title: null, embedding: embedding(id) }));
    await addRows(project.database, "documents", rows);
    const table = await (await lancedb.connect(project.database)).openTable("documents");
    const config = lancedb.Index.ivfPq({ distanceType: "cosine", numPartitions: 1 });
    await table.createIndex("embedding", { config });
    forgetMigrations(project, project.database);
  },
  "docs/adopting.md#marking-as-applied": async ({ project, migrate }) => {
    const create = () => project.migration("0001_adopt.ts", `m.createTable("documents", { id: m.int64() })`);
    create();
    await migrate("up");
    forgetMigrations(project, project.database);
    create();
  },
  "docs/adopting.md#drift": async ({ project, migrate }) => {
    await documents("0001_documents.ts", 3)({ project, migrate });
    const table = await (await lancedb.connect(project.database)).openTable("documents");
    await table.addColumns([{ name: "pages", valueSql: "arrow_cast(null, 'Int32')" }]);
    project.write("schema.ts", "");
  },
  "docs/cli.md#without-migration-files": documents("0001_documents.ts", 0),
  "docs/lint.md": ({ project }) => {
    const columns = `{ id: m.int64().notNull(), title: m.utf8(), score: m.float64() }`;
    const create = `m.createTable("documents", ${columns}),\nm.createIndex("documents", "title", m.btree())`;
    project.migration("0001_documents.ts", create);
    // The columns in findings are those of files that import names.
    const write = (name: string, ...steps: readonly string[]) =>
      project.write(
        `migrations/${name}`,
        `import { addColumn, float32, renameColumn, retypeColumn, setNullable, utf8 } from "lance-migrate";\n\nexport const up = [\n${steps.map((step) => `  ${step},\n`).join("")}];\n`,
      );
    write(
      "0002_headlines.ts",
      `renameColumn("documents", "title", "headline")`,
      `retypeColumn("documents", "scroe", float32())`,
      `addColumn("documents", "language", utf8().notNull())`,
      `setNullable("documents", "language", true)`,
    );
    write(
      "0003_scores.ts",
      "// Single precision is enough",
      `retypeColumn("documents", "score", float32())`,
      `setNullable("documents", "headline", false)`,
    );
  },
  "docs/python.md#code-that-computes-a-column": async ({ project, migrate }) => {
    notes(project);
    await migrate("up");
    const rows = numbered(20).map((id) => ({ id: BigInt(id), text: `Note ${id}`, vector: numbered(8) }));
    await addRows(project.database, "notes", rows);
  },
  "docs/python.md#models": ({ project }) => notes(project),
  "docs/types.md": ({ project }) => {
    project.migration("0001_create_documents.ts", `m.createTable("documents", { id: m.int64() })`);
  },
  "docs/types.md#migrations-that-typescript-checks": typed,
  "docs/types.md#types-for-the-application": async (scene) => {
    await typed(scene);
    await scene.migrate("types", "--out", "src/db.ts");
    await scene.migrate("up");
    await addRows(scene.project.database, "documents", [{ id: 1n, headline: "On locks" }]);
  },
  "docs/types.md#decimals": async ({ project, migrate }) => {
    const columns = `{ id: m.int32().notNull(), price: m.decimal128(10, 2).notNull() }`;
    project.migration("0001_prices.ts", `m.createTable("prices", ${columns})`);
    await migrate("up");
    await migrate("types", "--out", "src/db.ts");
  },
  "docs/types.md#checking-new-rows": async (scene) => {
    await typed(scene);
    await scene.migrate("up");
  },
  "docs/branches.md#migrate-rebase": async ({ project, migrate }) => {
    const git = (...args: readonly string[]) => {
      const identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];
      execFileSync("git", [...identity, ...args], { cwd: project.folder, stdio: "pipe" });
    };
    const commit = () => {
      git("add", "--all");
      git("commit", "--quiet", "--message", "Migrations");
    };
    project.write(".gitignore", "node_modules\n.lancedb\n");
    git("init", "--quiet", "--initial-branch", "main");
    git("config", "user.name", "Ada");
    git("config", "user.email", "ada@example.com");
    await migrate("new", "create_documents", "--create-table", "documents(id int32 not null, title utf8)");
    await migrate("new", "widen_ids", "--retype", "documents.id:int64");
    commit();
    git("checkout", "--quiet", "-b", "large-titles");
    await migrate("new", "large_titles", "--retype", "documents.title:largeUtf8");
    commit();
    git("checkout", "--quiet", "main");
    await migrate("new", "headlines", "--rename", "documents.title:headline");
    commit();
    git("checkout", "--quiet", "large-titles");
  },
  "docs/branches.md#migrate-squash": async ({ migrate }) => {
    await migrate("new", "create_documents", "--create-table", "documents(id int32 not null, title utf8)");
    await migrate("new", "widen_ids", "--retype", "documents.id:int64");
    await migrate("new", "headlines", "--rename", "documents.title:headline");
  },
};

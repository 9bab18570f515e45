import { join } from "node:path";
import { connect } from "@lancedb/lancedb";
import type { Project } from "./project.ts";

export interface Screenshot {
  readonly name: string;
  /** What exists before the shown commands run. */
  readonly prepare?: (project: Project) => Promise<void>;
  /** Arguments of the commands whose output is shown, one after the other. */
  readonly shown: readonly string[];
  /** The last screen is that of the moment at which this was printed. */
  readonly until?: RegExp;
  readonly columns: number;
}

/** A moving picture. */
export interface Recording extends Pick<Screenshot, "name" | "prepare" | "columns"> {
  /** The commands, by the screens that show them. */
  readonly screens: readonly (readonly string[])[];
}

const createDocuments = `m.createTable("documents", {
  id: m.int64().notNull(), title: m.utf8(), body: m.utf8(), score: m.float32(), source: m.struct({ url: m.utf8() }),
})`;

/** A table with rows, some of which have no title. */
async function documents(project: Project, count: number): Promise<void> {
  project.migration("0001_create_documents", createDocuments);
  project.migration("0002_scores", `m.createIndex("documents", "score", m.btree())`);
  project.migrate("up");
  const table = await (await connect(join(project.folder, ".lancedb"))).openTable("documents");
  const rows = Array.from({ length: count }, (_, id) => ({
    id: BigInt(id),
    title: id % 400 === 7 ? null : `On ${id}`,
    body: `What document ${id} is about.`,
    score: id / 8,
    source: { url: `https://example.com/${id}` },
  }));
  await table.add(rows);
}

const embedder = `import { setTimeout as sleep } from "node:timers/promises";

export default async function embed(rows) {
  await sleep(120);
  return rows.map(({ title, body }, row) => Array.from({ length: 384 }, (_, axis) => Math.sin(row * axis)));
}
`;

export const screenshots: readonly Screenshot[] = [
  {
    name: "plan",
    columns: 96,
    prepare: async (project) => {
      await documents(project, 20_000);
      project.migration(
        "0003_headlines",
        `m.renameColumn("documents", "title", "headline")`,
        `m.addColumn("documents", "language", m.utf8(), { as: "'en'" })`,
      );
      project.migration("0004_finer_scores", `m.retypeColumn("documents", "score", m.float64())`);
      project.migration("0005_drop_body", `m.dropColumn("documents", "body")`);
    },
    shown: ["plan"],
  },
  {
    name: "progress",
    columns: 96,
    prepare: async (project) => {
      await documents(project, 12_000);
      project.write("embedders/small.js", embedder);
      project.migration(
        "0003_embeddings",
        `m.addColumn("documents", "embedding", m.vector(384))`,
        `m.backfillColumn("documents", "embedding", {
          from: ["title", "body"], key: "id", with: "./embedders/small.js", version: "1", pricePer1000Rows: 0.02 })`,
      );
    },
    shown: ["plan", "up"],
    // However fast the machine is, there is such a moment.
    until: /(?:[5-9]|1[01]),\d{3} of 12,000 rows computed, \S+, about [^\r]*? left/,
  },
  {
    name: "error",
    columns: 96,
    prepare: async (project) => {
      await documents(project, 2_000);
      project.migration("0003_require_titles", `m.setNullable("documents", "title", false)`);
    },
    shown: ["up", "plna"],
  },
  {
    name: "status",
    columns: 96,
    prepare: async (project) => {
      await documents(project, 10);
      project.migration("0003_headlines", `m.renameColumn("documents", "title", "headline")`);
      project.migrate("up");
      project.write("embedders/small.js", `export default () => { throw new Error("the model is not loaded"); };\n`);
      project.migration(
        "0004_embeddings",
        `m.addColumn("documents", "embedding", m.vector(384))`,
        `m.backfillColumn("documents", "embedding", {
          from: ["headline", "body"], key: "id", with: "./embedders/small.js", version: "1" })`,
      );
      project.migrate("up", 1);
      project.migration("0005_drop_body", `m.dropColumn("documents", "body")`);
    },
    shown: ["status"],
  },
  { name: "help", columns: 80, shown: [""] },
];

export const recording: Recording = {
  name: "recording",
  columns: 96,
  prepare: async (project) => {
    project.write("tsconfig.json", "{}\n");
    project.write("embed.js", embedder);
    const rows = Array.from({ length: 8_000 }, (_, id) => ({
      id: BigInt(id),
      title: `On ${id}`,
      body: `What document ${id} is about.`,
    }));
    await (await connect(join(project.folder, ".lancedb"))).createTable("documents", rows);
  },
  screens: [
    ["init --yes", "baseline"],
    [
      `new add_embeddings --add-column 'documents.embedding:vector(384)' \\
    --backfill-column 'documents.embedding:
      {"from": ["body"], "key": "id", "with": "./embed.js", "version": "1"}'`,
      "plan",
    ],
    ["up", "status"],
  ],
};

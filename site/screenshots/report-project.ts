/** A project with a past: half a year of runs by several people, and something of everything that a report shows. */
import { join } from "node:path";
import { connect } from "@lancedb/lancedb";
import type { Project } from "./project.ts";

/** A module that lets the command run at the time in AT, as the person in WHO. */
export const elsewhere = `const shift = Date.parse(process.env.AT) - Date.now();
const RealDate = Date;
globalThis.Date = class extends RealDate {
  constructor(...args) {
    super(...(args.length === 0 ? [RealDate.now() + shift] : args));
  }
  static now() {
    return RealDate.now() + shift;
  }
};
const os = process.getBuiltinModule("node:os");
const [username, hostname] = process.env.WHO.split("@");
os.hostname = () => hostname;
os.userInfo = () => ({ username });
`;

const embedder = (size: number, pause: number) => `import { setTimeout as sleep } from "node:timers/promises";

export default async function embed(rows) {
  await sleep(${pause});
  return rows.map(({ body }) => Array.from({ length: ${size} }, (_, axis) => Math.sin(axis * Number(body.slice(14, -10)))));
}
`;

const ann = "ann@laptop";
const ben = "ben@workstation";
const ci = "ci@runner-3";

export async function projectWithAPast(project: Project): Promise<void> {
  project.write("elsewhere.mjs", elsewhere);
  project.write(
    "migrate.config.ts",
    `export default { targets: { production: { kind: "lance", uri: ".lancedb" } } };\n`,
  );
  const run = (args: string, at: string, who: string, code = 0) => {
    Object.assign(process.env, { AT: `${at}:00Z`, WHO: who });
    return project.migrate(args, code, "--import ./elsewhere.mjs");
  };
  const documents = async () => await (await connect(join(project.folder, ".lancedb"))).openTable("documents");

  project.migration(
    "0001_documents",
    `m.createTable("documents", {
      id: m.int64().notNull(), title: m.utf8(), body: m.utf8(), score: m.float32(), published: m.utf8(), draft: m.bool(),
    })`,
  );
  run("up", "2026-05-04T09:12", ann);
  await (
    await documents()
  ).add(
    Array.from({ length: 6_000 }, (_, id) => ({
      id: BigInt(id),
      title: `On ${id}`,
      body: `What document ${id} is about.`,
      score: id / 8,
      published: id === 4_711 ? "n/a" : String(1950 + (id % 70)),
      draft: id % 9 === 0,
    })),
  );
  project.migration("0002_authors", `m.createTable("authors", { id: m.int64().notNull(), name: m.utf8() })`);
  project.migration("0003_author_of", `m.addColumn("documents", "author", m.int64())`);
  run("up", "2026-05-21T14:02", ci);
  project.migration("0004_score_index", `m.createIndex("documents", "score", m.btree())`);
  run("up", "2026-06-02T10:00", ci);
  project.migration(
    "0005_years",
    `m.renameColumn("documents", "published", "year_text")`,
    `m.addColumn("documents", "year", m.int32(), { as: "cast(year_text as int)" })`,
  );
  run("up", "2026-06-18T16:31", ben, 1);
  await (await documents()).update({ where: "id = 4711", values: { year_text: "2001" } });
  run("up", "2026-06-19T08:40", ben);
  project.write(
    "migrations/0006_drop_year_text.ts",
    `import * as m from "lance-migrate";

export const accepts = ["lossy"];
export const up = [m.dropColumn("documents", "year_text")];
`,
  );
  run("up", "2026-07-09T11:15", ci);
  project.write("embedders/small.js", embedder(16, 0));
  project.migration(
    "0007_embeddings",
    `m.addColumn("documents", "embedding", m.vector(16))`,
    `m.backfillColumn("documents", "embedding", {
      from: ["body"], key: "id", with: "./embedders/small.js", version: "1" })`,
    `m.createIndex("documents", "embedding", m.ivfFlat())`,
  );
  run("up", "2026-07-29T19:20", ann);
  run("prune --yes", "2026-08-01T07:00", ben);
  project.migration(
    "0008_sources",
    `m.addColumn("documents", "source", m.struct({ url: m.utf8(), fetched: m.timestamp("ms", "UTC") }))`,
  );
  run("up", "2026-08-12T13:26", ann);
  project.migration("0009_headlines", `m.renameColumn("documents", "title", "headline")`);
  run("up", "2026-09-03T09:00", ci);
  run("down", "2026-09-03T09:50", ann);
  run("up", "2026-09-15T09:00", ci);
  project.migration("0010_finer_scores", `m.retypeColumn("documents", "score", m.float64())`);
  project.migration(
    "0011_author_names",
    `m.renameColumn("authors", "name", "display_name")`,
    `m.addColumn("authors", "country", m.utf8(), { as: "'unknown'" })`,
  );
  run("up", "2026-10-07T12:10", ci);
  project.migration(
    "0012_languages",
    `m.addColumn("documents", "language", m.utf8(), { as: "'en'" })`,
    `m.setNullable("documents", "language", false)`,
  );
  run("up", "2026-11-02T15:45", ben);
  await (
    await (await connect(join(project.folder, ".lancedb"))).openTable("authors")
  ).addColumns([{ name: "email", valueSql: "''" }]);
  project.write("embedders/large.js", embedder(32, 700));
  project.migration(
    "0013_better_model",
    `m.reembedColumn("documents", "embedding", {
      type: m.vector(32), from: ["headline", "body"], key: "id", with: "./embedders/large.js", version: "2",
      batch: 500, concurrency: 1, index: m.ivfFlat() })`,
  );
  run("prepare --timeout 5", "2026-11-20T18:40", ann, 130);
  project.migration("0014_drop_draft", `m.dropColumn("documents", "draft")`);
  project.migration("0015_require_authors", `m.setNullable("documents", "author", false)`);
  project.migration("0016_tags", `m.createTable("tags", { document: m.int64().notNull(), tag: m.utf8().notNull() })`);
}

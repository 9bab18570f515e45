/** The project that failures befall, and what its tables are after each migration. */
import { cpSync } from "node:fs";
import { join } from "node:path";
import { formatType } from "../../src/schema/data-type.ts";
import { readColumns } from "../../src/engine/engine.ts";
import { aProject, leaping, type Finished, type Project } from "../support/project.ts";
import type { SmallDisk } from "../support/small-disk.ts";
import { lancedb, rowsOf } from "../support/tables.ts";

/** None of them may run twice, or not at all, unseen. */
const migrations: Readonly<Record<string, string>> = {
  "0001_create.ts": `
    m.createTable("docs", { id: m.int32().notNull(), title: m.utf8(), year: m.utf8() }, {
      rows: [{ id: 1, title: "a", year: "1990" }, { id: 2, title: "b", year: null }, { id: 3, title: "c", year: "2001" }],
    }),
    m.createTable("tags", { id: m.int32(), name: m.utf8() }, { rows: [{ id: 1, name: "x" }] }),`,
  "0002_titles.ts": `
    m.retypeColumn("docs", "title", m.largeUtf8(), { using: "title || '!'" }),
    m.addColumn("docs", "length", m.int64(), { as: "length(title)" }),
    m.renameColumn("tags", "name", "label"),`,
  "0003_years.ts": `
    m.retypeColumn("docs", "year", m.int32(), { using: "cast(year as int)" }),
    m.createIndex("docs", "id", m.btree()),
    m.execute("tags", { update: { label: "cast(id as string) || '?'" }, where: "true" }),`,
  "0004_rows.ts": `
    m.insertRows("docs", [{ id: 4, title: "d", year: 2020 }], { key: "id" }),
    m.addColumn("tags", "size", m.int32(), { as: "cast(length(label) as int)" }),
    m.backfillColumn("docs", "length", { from: ["title"], key: "id", with: "./length.mjs", version: "2", where: "id = 4" }),
    m.alterColumns("docs", [{ path: "title", rename: "heading" }, { path: "length", rename: "size" }]),`,
};
/** What 0004 computes with. */
export const lengthCode = "export default (rows) => rows.map(({ title }) => title.length);\n";
export const last = Object.keys(migrations).length;

/** By table: its columns and rows, as text. */
export type State = Readonly<Record<string, string>>;

export interface Scene {
  readonly project: Project;
  /** What an operator has put aside: files of migrations, and a backup of the database. */
  readonly aside: string;
  /** The database's own, where one can be mounted. */
  readonly disk: SmallDisk | undefined;
  /** Runs a command; the lease of a run that was killed has expired. */
  migrate(args: readonly string[]): Promise<Finished>;
}

/** With consent to all that it loses. */
const migrationOf = (steps: string) =>
  `import * as m from "lance-migrate";\n\nexport const accepts = ["irreversible"];\nexport const up = [${steps}\n];\n`;

export function aScene(mount?: (folder: string) => SmallDisk): Scene {
  const project = aProject();
  const disk = mount?.(project.database);
  const aside = join(project.folder, "aside");
  for (const [file, steps] of Object.entries(migrations)) project.write(`migrations/${file}`, migrationOf(steps));
  project.write("length.mjs", lengthCode);
  project.write("migrate.config.ts", `export default { targets: { here: { kind: "lance", uri: ".lancedb" } } };\n`);
  cpSync(join(project.folder, "migrations"), join(aside, "migrations"), { recursive: true });
  return {
    project,
    aside,
    disk,
    migrate: async (args) => await project.migrate(args, leaping()),
  };
}

export async function stateOf({ database }: Project): Promise<State> {
  const db = await lancedb.connect(database);
  const state: Record<string, string> = {};
  for (const name of await db.tableNames()) {
    if (name.startsWith("_migrations")) continue;
    const columns = await readColumns(await db.openTable(name));
    const rows = (await rowsOf(database, name)).toSorted((one, other) => Number(one["id"]) - Number(other["id"]));
    state[name] = [
      columns.map((one) => `${one.name} ${formatType(one.type)}`),
      ...rows.map((row) => JSON.stringify(row)),
    ].join("\n");
  }
  return state;
}

/** What the tables are after each migration that nothing has befallen; of none at first. */
export async function statesOf(): Promise<readonly State[]> {
  const { project, migrate } = aScene();
  const states: State[] = [{}];
  for (let version = 1; version <= last; version++) {
    const { code, stderr } = await migrate(["up", "--step-by-step", "--to", String(version)]);
    if (code !== 0) throw new Error(stderr);
    states.push(await stateOf(project));
  }
  return states;
}

/** Applies this many migrations to a new project. */
export async function aSceneAt(version: number): Promise<Scene> {
  const scene = aScene();
  await must(scene, "up", "--step-by-step", "--to", String(version));
  return scene;
}

/** Runs a command that must succeed. */
export async function must({ migrate }: Pick<Scene, "migrate">, ...args: readonly string[]): Promise<Finished> {
  const ended = await migrate(args);
  if (ended.code !== 0) throw new Error(`migrate ${args.join(" ")} ended with ${ended.code}: ${ended.stderr}`);
  return ended;
}

/** As from a version control. */
export function restoreFiles({ project, aside }: Scene): void {
  cpSync(join(aside, "migrations"), join(project.folder, "migrations"), { recursive: true });
}

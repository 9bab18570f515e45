/** One project on each place where a ledger is kept: a folder, a service with rows, and one with markers. */
import { aProject, leaping, preloading, type Finished, type Project } from "../../support/project.ts";
import { aService, apiKey } from "../../support/service.ts";
import { lancedb } from "../../support/tables.ts";

export type Kept = "lance" | "namespace" | "service";
export const everywhere: readonly Kept[] = ["lance", "namespace", "service"];
/** Where tables can be described. */
export const described: readonly Kept[] = ["lance", "namespace"];

export interface KeptProject extends Pick<Project, "folder" | "migration"> {
  /** The folder that the tables are in. */
  readonly data: string;
  /** The built command. */
  run(...args: readonly string[]): Promise<Finished>;
  /** The same when the lease of a killed run is over. */
  runLater(...args: readonly string[]): Promise<Finished>;
}

const migrations: readonly (readonly [file: string, steps: string])[] = [
  ["0001_people.ts", `m.createTable("people", { id: m.int32(), name: m.utf8() })`],
  ["0002_places.ts", `m.createTable("places", { id: m.int32(), title: m.utf8() })`],
  ["0003_names.ts", `m.renameColumn("people", "name", "full_name"), m.renameColumn("places", "title", "label")`],
  ["0004_wider.ts", `m.retypeColumn("people", "id", m.int64())`],
];

/** A project whose four migrations are written, and applied up to one of them. */
export async function aKeptProject(kept: Kept, upTo = 4, project: Project = aProject()): Promise<KeptProject> {
  const service = kept === "lance" ? undefined : await aService();
  const target =
    service === undefined
      ? { kind: "lance", uri: ".lancedb" }
      : { kind: "rest", endpoint: service.url, dialect: kept, apiKey };
  const config = { targets: { here: target } };
  project.write("migrate.config.ts", `export default ${JSON.stringify(config)};\n`);
  for (const [file, steps] of migrations) project.migration(file, steps);
  const run = (...args: readonly string[]) => project.migrate(args);
  if (upTo > 0) await run("up", "--step-by-step", "--to", String(upTo));
  const later = { ...preloading("jumping-clock.ts"), CLOCK_JUMP: "10000000", CLOCK_JUMPS_AT_ONCE: "1" };
  const runLater = (...args: readonly string[]) => project.migrate(args, { ...later, ...leaping() });
  return {
    folder: project.folder,
    migration: project.migration,
    data: service?.data ?? project.database,
    run,
    runLater,
  };
}

/** Drops every table of the ledger. */
export async function dropLedger({ data }: KeptProject): Promise<void> {
  const db = await lancedb.connect(data);
  for (const name of await db.tableNames()) if (name.startsWith("_migrations")) await db.dropTable(name);
}

/** Takes one record away: a row, or a marker. */
export async function dropRecord({ data }: KeptProject, kept: Kept, place: string): Promise<void> {
  const db = await lancedb.connect(data);
  if (kept !== "service") return void (await (await db.openTable("_migrations")).delete(`key = '${place}'`));
  const names = await db.tableNames();
  await db.dropTable(names.find((name) => name.startsWith(`_migrations.e${place}.`))!);
}

/** Takes away that a migration was applied. */
export async function dropApplied({ data }: KeptProject, kept: Kept, version: number): Promise<void> {
  const db = await lancedb.connect(data);
  const where = `event = 'applied' AND version = ${version}`;
  if (kept !== "service") return void (await (await db.openTable("_migrations")).delete(where));
  await db.dropTable((await db.tableNames()).find((name) => name.includes(`.applied.000${version}_`))!);
}

/** Changes one record: who a row says it was, or which migration a marker is about. */
export async function changeRecord({ data }: KeptProject, kept: Kept, place: string): Promise<void> {
  const db = await lancedb.connect(data);
  if (kept !== "service") {
    const table = await db.openTable("_migrations");
    return void (await table.update({ where: `key = '${place}'`, values: { by: "nobody" } }));
  }
  const name = (await db.tableNames()).find((one) => one.startsWith(`_migrations.e${place}.`))!;
  await db.dropTable(name);
  await db.createTable(name.replace(/\.u[0-9a-z]+$/, ".uzz"), [{ key: place }]);
}

/** Takes away all that was recorded after a migration was applied, as if the run had been killed in the next one. */
export async function forgetAfter({ data }: KeptProject, kept: Kept, version: number): Promise<void> {
  const db = await lancedb.connect(data);
  if (kept !== "service") {
    const ledger = await db.openTable("_migrations");
    const [applied] = await ledger.query().where(`event = 'applied' AND version = ${version}`).toArray();
    return void (await ledger.delete(`number > ${String(applied.number)}`));
  }
  const numberOf = (name: string) => Number(/^_migrations\.e1\.(\d+)\./.exec(name)?.[1] ?? 0);
  const names = await db.tableNames();
  const applied = numberOf(names.find((name) => name.includes(`.applied.000${version}_`))!);
  for (const name of names) if (numberOf(name) > applied) await db.dropTable(name);
}

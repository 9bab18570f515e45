/** Documents with a column of vectors that code computes slowly, in a folder or behind `migrate serve`. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { bundled } from "../support/bundled.ts";
import { aProject, startNode, type Project, type Running } from "../support/project.ts";
import { rounds } from "../support/rounds.ts";
import { serveProcess } from "../support/serve.ts";
import { apiKey } from "../support/service.ts";
import { lancedb } from "../support/tables.ts";
import { oldVectorOf, vectorOf } from "../support/vector-of.ts";

const code = fileURLToPath(new URL("../fixtures/slow-vectors.ts", import.meta.url));
const oldCode = fileURLToPath(new URL("../fixtures/old-vectors.ts", import.meta.url));

/** How many documents a call of the code gets, and how many calls are made at a time. */
export const [batch, concurrency] = [16, 2];

/** What a writer was told (document-writer.ts). */
export interface Said {
  readonly texts: readonly (readonly [id: number, text: string | null])[];
  readonly counts: Readonly<Record<string, number>>;
}

export interface Scene {
  readonly project: Project;
  /** What an application connects to: the folder of the database, or the address of its service. */
  readonly database: string;
}

interface Setting {
  /** What the pending migration does: it adds the column, or changes its model. */
  readonly change?: "backfill" | "reembed";
  /** Serves the database, and gives the service's address. */
  readonly serve?: (data: string) => Promise<string>;
}

export async function aScene(
  way: "lance" | "namespace",
  documents: number,
  { change = "backfill", serve = async (data) => (await serveProcess(data)).url }: Setting = {},
): Promise<Scene> {
  const { migrate, start, ...rest } = aProject();
  const key = { MIGRATE_API_KEY: apiKey };
  const project: Project = {
    ...rest,
    migrate: (args, env) => migrate(args, { ...key, ...env }),
    start: (args, env) => start(args, { ...key, ...env }),
  };
  let { database } = project;
  if (way === "namespace") {
    database = await serve(project.database);
    const target = JSON.stringify({ kind: "rest", endpoint: database, dialect: "namespace" });
    project.write("migrate.config.ts", `export default { targets: { served: ${target} } };\n`);
  }
  const isBackfill = change === "backfill";
  const columns = `id: m.int64().notNull(), text: m.utf8(), ${isBackfill ? "" : "embedding: m.vector(2)"}`;
  project.migration("0001_docs.ts", `m.createTable("docs", { ${columns} }),`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  const table = await (await lancedb.connect(project.database)).openTable("docs");
  const text = (id: number) => `document ${id}`;
  const rows = Array.from({ length: documents }, (_, id) => ({ id, text: text(id) }));
  await table.add(isBackfill ? rows : rows.map((row) => ({ ...row, embedding: oldVectorOf(row.text) })));
  const options = `from: ["text"], key: "id", with: ${JSON.stringify(code)}, version: "1", batch: ${batch}, concurrency: ${concurrency}`;
  project.migration(
    "0002_vectors.ts",
    isBackfill
      ? `m.addColumn("docs", "embedding", m.vector(4)), m.backfillColumn("docs", "embedding", { ${options} }),`
      : `m.reembedColumn("docs", "embedding", { type: m.vector(4), ${options}, index: m.ivfFlat({ numPartitions: 4 }), down: { with: ${JSON.stringify(oldCode)}, version: "0" } }),`,
  );
  return { project, database };
}

const writer = await bundled(fileURLToPath(new URL("document-writer.ts", import.meta.url)));

/** Milliseconds after each write of an application: with short ones, most of the work of a test is theirs. */
const pause = rounds(200, 50);

/** Starts an application that writes documents. Which `models` it knows is described there; none if absent. */
export async function startWriter(
  { project, database }: Scene,
  first: number,
  models: readonly ("old" | "both")[] = [],
): Promise<Running> {
  const args = [writer, database, String(first), String(pause), ...models];
  const running = startNode(args, project.folder, { MIGRATE_API_KEY: apiKey });
  await new Promise<void>((resolve) => running.process.stdout!.once("data", () => resolve()));
  return running;
}

/** Ends such an application. */
export async function ended(running: Running): Promise<Said> {
  running.process.stdin!.write("end\n");
  const { stdout, stderr, code: exit } = await running.finished;
  expect(exit, stderr).toBe(0);
  return JSON.parse(stdout.trim().split("\n").at(-1)!) as Said;
}

/** Until more is computed, the run is over, or five seconds have passed: it may have nothing left but to wait for writers. */
export async function computing({ process }: Running, project: Project, before: number): Promise<void> {
  for (let wait = 0; wait < 500; wait++) {
    if (process.exitCode !== null || paidFor(project).length > before) return;
    await sleep(10);
  }
}

/** The texts that the code has computed values for. */
export function paidFor({ folder }: Project): readonly string[] {
  const log = join(folder, "computed.txt");
  return existsSync(log) ? readFileSync(log, "utf8").trimEnd().split("\n") : [];
}

/** Documents whose value or text is wrong, or that are missing or should be. */
export async function wrong(
  project: Project,
  said: readonly Said[] = [],
  vectorIn: (text: string) => readonly number[] = vectorOf,
): Promise<readonly string[]> {
  const rows = await (await (await lancedb.connect(project.database)).openTable("docs")).query().toArray();
  const found = new Map(
    (rows as { id: bigint; text: string; embedding: Iterable<number> | null }[]).map((row) => [Number(row.id), row]),
  );
  const values = [...found.values()].flatMap(({ id, text, embedding }) =>
    JSON.stringify([...(embedding ?? [])]) === JSON.stringify(vectorIn(text)) ? [] : [`${id} has another value`],
  );
  const texts = said.flatMap((one) =>
    one.texts.flatMap(([id, text]) => ((found.get(id)?.text ?? null) === text ? [] : [`${id} is not ${text}`])),
  );
  return [...values, ...texts, ...(rows.length === found.size ? [] : ["an id is there twice"])];
}

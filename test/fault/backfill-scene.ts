/** Documents with a column of vectors that code computes slowly, in a folder or behind `migrate serve`. */
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { aProject, type Project } from "../support/project.ts";
import { serveProcess } from "../support/serve.ts";
import { apiKey } from "../support/service.ts";
import { lancedb } from "../support/tables.ts";
import { vectorOf } from "../support/vector-of.ts";

const code = fileURLToPath(new URL("../fixtures/slow-vectors.ts", import.meta.url));

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

/** `serve`: serves the database, and gives the service's address. */
export async function aScene(
  way: "lance" | "namespace",
  documents: number,
  serve = async (data: string) => (await serveProcess(data)).url,
): Promise<Scene> {
  const { migrate, start, ...rest } = aProject("own");
  const key = { MIGRATE_API_KEY: apiKey };
  const project: Project = { ...rest, migrate: (args) => migrate(args, key), start: (args) => start(args, key) };
  let { database } = project;
  if (way === "namespace") {
    mkdirSync(project.database);
    database = await serve(project.database);
    const target = JSON.stringify({ kind: "rest", endpoint: database, dialect: "namespace" });
    project.write("migrate.config.ts", `export default { targets: { served: ${target} } };\n`);
  }
  project.migration("0001_docs.ts", `m.createTable("docs", { id: m.int64().notNull(), text: m.utf8() }),`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  const table = await (await lancedb.connect(project.database)).openTable("docs");
  await table.add(Array.from({ length: documents }, (_, id) => ({ id, text: `document ${id}` })));
  const options = JSON.stringify({ from: ["text"], key: "id", with: code, version: "1", batch, concurrency });
  project.migration(
    "0002_vectors.ts",
    `m.addColumn("docs", "embedding", m.vector(4)), m.backfillColumn("docs", "embedding", ${options}),`,
  );
  return { project, database };
}

/** The texts that the code has computed values for. */
export function paidFor({ folder }: Project): readonly string[] {
  const log = join(folder, "computed.txt");
  return existsSync(log) ? readFileSync(log, "utf8").trimEnd().split("\n") : [];
}

/** Documents whose value or text is wrong, or that are missing or should be. */
export async function wrong(project: Project, said: readonly Said[] = []): Promise<readonly string[]> {
  const rows = await (await (await lancedb.connect(project.database)).openTable("docs")).query().toArray();
  const found = new Map(
    (rows as { id: bigint; text: string; embedding: Iterable<number> | null }[]).map((row) => [Number(row.id), row]),
  );
  const values = [...found.values()].flatMap(({ id, text, embedding }) =>
    JSON.stringify([...(embedding ?? [])]) === JSON.stringify(vectorOf(text)) ? [] : [`${id} has another value`],
  );
  const texts = said.flatMap((one) =>
    one.texts.flatMap(([id, text]) => ((found.get(id)?.text ?? null) === text ? [] : [`${id} is not ${text}`])),
  );
  return [...values, ...texts, ...(rows.length === found.size ? [] : ["an id is there twice"])];
}

/** Runs that compute a column are killed, while applications add, change and delete rows. */
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { aProject, startNode, type Project, type Running } from "../support/project.ts";
import { rounds } from "../support/rounds.ts";
import { serveProcess } from "../support/serve.ts";
import { apiKey } from "../support/service.ts";
import { lancedb } from "../support/tables.ts";
import { vectorOf } from "../support/vector-of.ts";

const kills = rounds(4, 50);
const documents = rounds(1_500, 20_000);
const [batch, concurrency] = [16, 2];
const code = fileURLToPath(new URL("../fixtures/slow-vectors.ts", import.meta.url));
const writer = fileURLToPath(new URL("document-writer.ts", import.meta.url));

interface Said {
  readonly texts: readonly (readonly [id: number, text: string | null])[];
  readonly counts: Readonly<Record<string, number>>;
}

interface Scene {
  readonly project: Project;
  /** What a writer connects to. */
  readonly database: string;
}

async function aScene(way: "lance" | "namespace"): Promise<Scene> {
  const { migrate, start, ...rest } = aProject("own");
  const key = { MIGRATE_API_KEY: apiKey };
  const project: Project = { ...rest, migrate: (args) => migrate(args, key), start: (args) => start(args, key) };
  let { database } = project;
  if (way === "namespace") {
    mkdirSync(project.database);
    database = (await serveProcess(project.database)).url;
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

async function startWriter({ project, database }: Scene, first: number): Promise<Running> {
  const running = startNode([writer, database, String(first)], project.folder, { MIGRATE_API_KEY: apiKey });
  await new Promise<void>((resolve) => running.process.stdout!.once("data", () => resolve()));
  return running;
}

async function ended(running: Running): Promise<Said> {
  running.process.stdin!.write("end\n");
  const { stdout, stderr, code: exit } = await running.finished;
  expect(exit, stderr).toBe(0);
  return JSON.parse(stdout.trim().split("\n").at(-1)!) as Said;
}

/** The texts that the code has computed values for. */
function paidFor({ folder }: Project): readonly string[] {
  const log = join(folder, "computed.txt");
  return existsSync(log) ? readFileSync(log, "utf8").trimEnd().split("\n") : [];
}

/** Documents whose value or text is wrong, or that are missing or should be. */
async function wrong(project: Project, said: readonly Said[]): Promise<readonly string[]> {
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

test.each(["lance", "namespace"] as const)(
  `a run that computes a column is killed at ${kills} random moments beside writers: each value is of its row's text, no write is lost, and little is computed twice, on %s`,
  async (way) => {
    const scene = await aScene(way);
    const { project } = scene;
    const writers = await Promise.all([1_000_000, 2_000_000].map((first) => startWriter(scene, first)));
    let killed = 0;
    for (let time = 0; time < kills; time++) {
      const before = paidFor(project).length;
      const running = project.start(["up", "--lease", "1"]);
      let isOver = false;
      void running.finished.then(() => (isOver = true));
      // It first waits for the lease of the run before, and merges what that has computed. Every other one is killed later.
      const isComputing = () => isOver || paidFor(project).length > before;
      if (time % 2 === 0) await expect.poll(isComputing, { timeout: 60_000, interval: 5 }).toBe(true);
      await sleep(Math.random() * (time % 2 === 0 ? 800 : 2_500));
      running.process.kill("SIGKILL");
      await running.finished;
      if (running.process.signalCode === "SIGKILL") killed++;
    }
    const said = await Promise.all(writers.map(ended));
    const last = await project.migrate(["up", "--lease", "1"]);
    expect(last, last.stderr).toMatchObject({ code: 0 });
    expect(await wrong(project, said)).toEqual([]);
    const computed = paidFor(project);
    const twice = computed.length - new Set(computed).size;
    console.log(
      `${way}: ${killed} killed, ${computed.length} computed, ${twice} of them again; ${JSON.stringify(said.map(({ counts }) => counts))}`,
    );
    expect(killed).toBeGreaterThan(0);
    // For each call that may be made at a time, one may be under way, and the results of another one may be on their way.
    expect(twice).toBeLessThanOrEqual(killed * 2 * batch * concurrency);
  },
  900_000,
);

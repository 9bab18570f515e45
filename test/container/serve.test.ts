/** Our Dockerfile's image on a real container engine: migrated over the network, killed in the middle, started again. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { Wait } from "testcontainers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { lacks } from "../support/needs.ts";
import { aProject, leaping, root, type Project } from "../support/project.ts";
import { isLong, rounds } from "../support/rounds.ts";
import { columnsOf, lancedb, rowsOf, versionsOf } from "../support/tables.ts";
import * as engine from "./engine.ts";
import { aWayTo, type Moment } from "./way.ts";

const { apiKey, aVolume, serve } = engine;

type Dialect = "service" | "namespace";

/** A project with the running example's migrations; MIGRATE_ENDPOINT says where its target is. */
function aProjectFor(dialect: Dialect): Project {
  const project = aProject();
  project.write(
    "migrate.config.ts",
    `export default {
       migrations: ${JSON.stringify(join(root, "migrations"))},
       targets: { here: { kind: "rest", dialect: "${dialect}" } },
     };`,
  );
  return project;
}

const at = (url: string) => ({ MIGRATE_ENDPOINT: url, MIGRATE_API_KEY: apiKey });

/** So many that a change of a column's type takes its time. */
const rows = rounds(5_000, 20_000);

/** Fills the two tables as they are after 0002, as an application would. */
async function fill(url: string): Promise<void> {
  const db = await lancedb.connect("db://x", { apiKey, hostOverride: url });
  const ids = Array.from({ length: rows }, (_, id) => id);
  const documents = ids.map((id) => ({
    id,
    title: `title ${id}`,
    source: { url: `https://example.org/${id}`, fetched: "today" },
    score: id / 4,
    embedding: Array.from({ length: 8 }, (_, place) => id + place),
  }));
  const authors = ids
    .slice(0, 1000)
    .map((id) => ({ id, first_name: `family ${id}`, last_name: `given ${id}`, documents: [id] }));
  await (await db.openTable("documents")).add(documents);
  await (await db.openTable("authors")).add(authors);
  db.close();
}

/** The tables as the engine reads them from a copy of the volume. */
async function outcome(served: engine.Served) {
  const folder = await served.data();
  const tables = ["authors", "documents"];
  const versions = await versionsOf(folder);
  return {
    columns: await Promise.all(tables.map(async (table) => await columnsOf(folder, table))),
    rows: await Promise.all(tables.map(async (table) => digestOf(await rowsOf(folder, table)))),
    commits: tables.map((table) => versions[table]!).reduce((sum, version) => sum + version),
  };
}

/** Stands for every value; the engine gives rows in any order. */
function digestOf(rows: readonly Record<string, unknown>[]): string {
  const inOrder = rows.toSorted((one, other) => Number(one["id"]) - Number(other["id"]));
  return `${rows.length} rows, ${createHash("sha256").update(JSON.stringify(inOrder)).digest("hex")}`;
}

/** A container with the first two migrations and rows, and the rest to come. */
async function begin(dialect: Dialect) {
  const volume = await aVolume();
  const served = await serve(volume);
  const project = aProjectFor(dialect);
  expect(await project.migrate(["up", "--to", "2"], at(served.url))).toMatchObject({ code: 0 });
  await fill(served.url);
  return { volume, served, project };
}

async function undisturbed(dialect: Dialect) {
  const { served, project } = await begin(dialect);
  const way = await aWayTo(served.url);
  expect(await project.migrate(["up"], at(way.url))).toMatchObject({ code: 0 });
  const result = { requests: way.requests(), ...(await outcome(served)) };
  await served.kill();
  return result;
}

/** When the container is killed: at which share of the requests that an undisturbed run makes, and at which moment of it. */
const kills: readonly (readonly [number, Moment])[] = [
  [0.3, "during"],
  [0.6, "after"],
  [0.85, "before"],
];
/** For each commit, just the first in one dialect: what the volume keeps does not depend on it. */
const dialects: readonly Dialect[] = isLong ? ["service", "namespace"] : ["namespace"];

describe.skipIf(lacks("containers", await engine.whyNoEngine()))("the image", () => {
  beforeAll(async () => await engine.buildImage("service"));
  afterAll(engine.cleanUp);

  test("is healthy by its own check, serves a new volume without being root, and ends well when it is asked to", async () => {
    const served = await serve(await aVolume(), Wait.forHealthCheck());
    const say = async (...command: string[]) => (await served.container.exec(command)).output.trim();
    expect(await say("id", "-u")).not.toBe("0");
    // The service itself is the first process, so that signals reach it; and no key among its arguments.
    expect((await say("cat", "/proc/1/cmdline")).split("\0").slice(0, 3)).toEqual(["node", "dist/bin.js", "serve"]);
    expect(await say("cat", "/proc/1/cmdline")).not.toContain(apiKey);
    expect(await say("grep", "^Uid:", "/proc/1/status")).not.toMatch(/\b0\b/);
    expect(await aProjectFor("service").migrate(["up"], at(served.url))).toMatchObject({ code: 0 });
    expect(await served.stop()).toBe(0);
  });

  test("holds no key, and does not start without one", async () => {
    expect(await engine.bakedIn()).not.toMatch(/api.key=/i);
    expect(await engine.serveWithoutKey()).toEqual({ code: 2, said: expect.stringContaining("set MIGRATE_API_KEY") });
  });

  test.each(dialects)(
    "killed in the middle of a run and started again on its volume, it lets the next run end right, in the dialect %s",
    async (dialect) => {
      const { requests, commits, ...expected } = await undisturbed(dialect);
      for (const [share, moment] of isLong ? kills : kills.slice(0, 1)) {
        const { volume, served, project } = await begin(dialect);
        const request = Math.ceil(requests * share);
        let killed: Promise<number> | undefined;
        const way = await aWayTo(served.url, { request, moment, happen: () => (killed = served.kill()) });
        expect(await project.migrate(["up"], at(way.url))).toMatchObject({ code: 6 });
        expect(await killed).toBe(137);

        const again = await serve(volume);
        expect(await project.migrate(["up"], { ...at(again.url), ...leaping() })).toMatchObject({ code: 0 });
        const { commits: made, ...found } = await outcome(again);
        expect({ request, moment, ...found }).toEqual({ request, moment, ...expected });
        // Who can't describe a table may repeat the one action that was in doubt, which changes nothing and still commits.
        expect([commits, dialect === "service" ? commits + 1 : commits]).toContain(made);
        await again.kill();
      }
    },
  );
});

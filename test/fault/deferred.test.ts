/** Runs that defer vector indexes or build them, killed at each of their calls: the next runs end right. */
import { cpSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { aProject, leaping, temporaryFolder, onStderr } from "../support/project.ts";
import { ofThisCommit, rounds } from "../support/rounds.ts";
import { aService, apiKey } from "../support/service.ts";
import { addRows, lancedb } from "../support/tables.ts";
import { startVictim } from "./start-victim.ts";

const every = rounds(22, 1);

async function indexesOf(data: string): Promise<readonly string[]> {
  const table = await (await lancedb.connect(data)).openTable("t");
  return (await table.listIndices()).map(({ name }) => name).toSorted();
}

async function marksOf(data: string): Promise<readonly string[]> {
  const { fields } = await (await (await lancedb.connect(data)).openTable("t")).schema();
  return fields.flatMap(({ metadata }) => [...metadata.keys()]).toSorted();
}

test.each(ofThisCommit(["lance", "namespace"] as const, 2))(
  "wherever such a run is killed, the next ones end right, on %s",
  async (way) => {
    const data = temporaryFolder();
    const service = way === "lance" ? undefined : await aService(data);
    const target =
      service === undefined
        ? ({ kind: "lance", uri: data } as const)
        : ({ kind: "rest", endpoint: service.url, apiKey, dialect: "namespace" } as const);
    const project = aProject();
    project.write("migrate.config.ts", `export default { targets: { here: ${JSON.stringify(target)} } };\n`);
    project.migration("0001_create.ts", `m.createTable("t", { a: m.vector(2), b: m.vector(2) }),`);
    expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
    project.migration(
      "0002_index.ts",
      `m.createIndex("t", "a", m.ivfFlat({ numPartitions: 2 })), m.createIndex("t", "b", m.hnswSq()),`,
    );
    const restore = (origin: string) => {
      // What is in the folder: a service notices when the folder is another one.
      for (const name of readdirSync(data)) rmSync(join(data, name), { recursive: true });
      cpSync(origin, data, { recursive: true });
    };
    /** Kills a run at its calls, one after the other. Returns how many it killed. */
    const killEach = async (check: (words: object) => Promise<void>) => {
      const origin = temporaryFolder();
      cpSync(data, origin, { recursive: true });
      for (let call = 1, killed = 0; ; call += every, killed++) {
        restore(origin);
        const order = {
          migrations: join(project.folder, "migrations"),
          target,
          death: { call, place: "after" },
        } as const;
        const { code, stdout, stderr } = await startVictim(order, project.folder).finished;
        if (code === 0) return killed;
        expect(code, stderr).toBeNull();
        await check({ call, stdout });
      }
    };

    const up = async () => await project.migrate(["up"], leaping());
    const deferring = await killEach(async (words) => {
      expect({ ...words, ...(await up()) }).toMatchObject(onStderr(0, "b_idx is deferred"));
      expect(await up()).toMatchObject(onStderr(0, "a_idx is deferred"));
      expect(await project.migrate(["verify"])).toMatchObject({ code: 0 });
    });
    expect(deferring).toBeGreaterThan(15 / every);

    expect(await marksOf(data)).toEqual(["lance_migrate_deferred.a_idx", "lance_migrate_deferred.b_idx"]);
    await addRows(
      data,
      "t",
      [1, 2, 3].map((at) => ({ a: [at, 1], b: [1, at] })),
    );
    const building = await killEach(async (words) => {
      expect({ ...words, ...(await up()) }).toMatchObject({ code: 0 });
      expect(await indexesOf(data)).toEqual(["a_idx", "b_idx"]);
      expect(await up()).toEqual({ code: 0, stdout: "nothing to do\n", stderr: "" });
      expect(await project.migrate(["verify"])).toMatchObject({ code: 0 });
    });
    expect(building).toBeGreaterThan(10 / every);
    expect(await marksOf(data)).toEqual([]);
  },
);

test("an index whose mark was left is as any other, and down drops both", async () => {
  const project = aProject();
  project.migration("0001_create.ts", `m.createTable("t", { a: m.vector(2) }),`);
  project.migration("0002_index.ts", `m.createIndex("t", "a", m.ivfFlat()),`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  const [mark] = await marksOf(project.database);
  await addRows(project.database, "t", [{ a: [1, 2] }]);
  // As a run leaves it that is killed between training the index and removing its mark.
  const table = await (await lancedb.connect(project.database)).openTable("t");
  await table.createIndex("a", { config: lancedb.Index.ivfFlat({}), name: "a_idx" });
  expect(await project.migrate(["verify"])).toMatchObject({ stdout: expect.not.stringContaining("deferred"), code: 0 });
  expect(await project.migrate(["up"])).toEqual({ code: 0, stdout: "nothing to do\n", stderr: "" });
  expect(await marksOf(project.database)).toEqual([mark]);
  expect(await project.migrate(["down"])).toMatchObject({ code: 0 });
  expect([await indexesOf(project.database).catch(() => []), await marksOf(project.database)]).toEqual([[], []]);
  expect(await project.migrate(["verify"])).toMatchObject({ code: 0 });
});

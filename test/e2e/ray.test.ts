/** Shards of `migrate prepare` on Ray. Real clusters are made on this machine. */
import { chmodSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { pythonWith } from "../clients/client.ts";
import { lacks } from "../support/needs.ts";
import { aProject, root, startNode, type Project, onStderr } from "../support/project.ts";
import { addRows, lancedb, rowsOf } from "../support/tables.ts";

const texts = Array.from({ length: 40 }, (_, id) => `text ${id}`);

/** What code does before it answers: with the texts of a call. */
const embedder = (before: string) => `import { appendFileSync, existsSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
export default async function embed(rows: { text: string }[]) {
  const texts = rows.map(({ text }) => text);
  ${before}
  appendFileSync("log.txt", texts.map((text) => text + "\\n").join(""));
  return texts.map((text) => [Number(text.split(" ")[1]), 0, 1]);
}
`;

/** A table of texts, and a pending migration that changes the model of their vectors. */
async function aScene(before = ""): Promise<Project> {
  const project = aProject("own");
  const columns = "{ id: m.int64().notNull(), text: m.utf8(), embedding: m.vector(2) }";
  project.write("embed.ts", embedder(before));
  project.migration("0001_docs.ts", `m.createTable("docs", ${columns}),`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  const rows = texts.map((text, id) => ({ id, text, embedding: [id, 0] }));
  await addRows(project.database, "docs", rows);
  const code = `from: ["text"], key: "id", with: "./embed.ts", version: "2", batch: 2, concurrency: 1`;
  project.migration(
    "0002_model.ts",
    `m.reembedColumn("docs", "embedding", { type: m.vector(3), ${code}, index: m.ivfFlat({ numPartitions: 1 }) }),`,
  );
  return project;
}

function logOf({ folder }: Project): readonly string[] {
  const file = join(folder, "log.txt");
  return existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n").toSorted() : [];
}

async function vectorsIn({ database }: Project): Promise<readonly unknown[]> {
  const rows = (await rowsOf(database, "docs")) as readonly { text: string; embedding: Iterable<number> }[];
  return rows.map(({ text, embedding }) => `${text}: ${[...embedding].join()}`).toSorted();
}

const complete = texts.map((text, id) => `${text}: ${id},0,1`).toSorted();

test.each([
  [["--shards", "4"], "--shards needs --on ray; without Ray, start a process for each part"],
  [["--on", "ray"], "--on ray needs --shards N"],
  [["--on", "spark", "--shards", "4"], "--on must be ray"],
  [["--on", "ray", "--shards", "0"], "--shards must be a whole number from 1 to 1000"],
  [["--on", "ray", "--shards", "4", "--shard", "1/4"], "--shard and --on can't be used together"],
  [["--on", "ray", "--shards", "4", "--ray-options", "[1]"], "--ray-options must be a JSON object"],
])("prepare %j is refused", async (args, problem) => {
  const ended = await aProject().migrate(["prepare", ...args]);
  expect(ended).toMatchObject(onStderr(2, problem));
});

const onRay = ["prepare", "--on", "ray", "--shards", "4"];

test("a relative path of Python starts at the current directory, and at the configuration if that names it", async () => {
  const project = await aScene();
  for (const folder of [".", "inside"]) {
    project.write(`${folder}/python`, `#!/bin/sh\necho '{ "missing": "the one in ${folder}" }'\n`);
    chmodSync(join(project.folder, folder, "python"), 0o755);
  }
  const local = `targets: { local: { kind: "lance", uri: ".lancedb" } }`;
  project.write("migrate.config.ts", `export default { python: "./python", ${local} };\n`);
  const run = async (args: readonly string[], env: Record<string, string> = {}) => {
    const config = ["--config", "../migrate.config.ts"];
    return await startNode([join(root, "dist/bin.js"), ...args, ...config], join(project.folder, "inside"), env)
      .finished;
  };
  for (const [args, env, found] of [
    [[], {}, "the one in ."],
    [[], { MIGRATE_PYTHON: "./python" }, "the one in inside"],
    [["--python", "./python"], { MIGRATE_PYTHON: "none" }, "the one in inside"],
  ] as const) {
    expect((await run(["doctor", ...args], env)).stdout).toContain(found);
    expect((await run([...onRay, ...args], env)).stderr).toContain(`has no package ray (${found})`);
  }
});

test("without Python or without Ray, prepare names what is missing", async () => {
  const project = await aScene();
  const wayOut = "; name another Python with --python or MIGRATE_PYTHON";
  expect(await project.migrate([...onRay, "--python", "no-python"])).toMatchObject({
    code: 2,
    stderr: `--on ray needs Python with the package ray, and no-python can't be started (spawn no-python ENOENT)${wayOut}\n`,
  });
  const bare = join(project.folder, "bare-python");
  // Without the packages that the machine has.
  project.write("bare-python", '#!/bin/sh\nexec python3 -I -S "$@"\n');
  chmodSync(bare, 0o755);
  expect(await project.migrate(onRay, { MIGRATE_PYTHON: bare })).toMatchObject({
    code: 2,
    stderr: `--on ray needs Python with the package ray, and ${bare} has no package ray (No module named 'ray'): pip install ray${wayOut}\n`,
  });
  expect(logOf(project)).toEqual([]);
});

/** A cluster of its own on this machine. */
const environment = () => ({ MIGRATE_PYTHON: pythonWith("ray==2.60.0"), RAY_ADDRESS: "local" });

test.skipIf(lacks("ray"))("4 shards on Ray compute each row once, and the caller creates the index", async () => {
  const project = await aScene();
  const { code, stdout, stderr } = await project.migrate(onRay, environment());
  expect({ code, stderr }).toMatchObject({ code: 0 });
  for (const shard of ["1/4", "2/4", "3/4", "4/4"])
    expect(stderr).toContain(`shard ${shard}: prepared docs.embedding for 0002_model: `);
  expect(stdout).toContain("prepared docs.embedding for 0002_model: 40 rows computed; for 40 rows, ");
  // This Python has no pylance.
  expect(stderr).toContain(
    "values can't be loaded on Ray (it lacks a package: No module named 'lance'; install it with",
  );
  expect(logOf(project)).toEqual(texts.toSorted());
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  expect(logOf(project)).toHaveLength(texts.length);
  expect(await vectorsIn(project)).toEqual(complete);
  const indexes = await (await (await lancedb.connect(project.database)).openTable("docs")).listIndices();
  expect(indexes.map(({ name }) => name)).toEqual(["embedding_idx_2"]);
});

test.skipIf(lacks("ray"))("a shard whose code fails is named, and only its rows are left to compute", async () => {
  const project = await aScene(
    'if (!existsSync("fixed") && texts.includes("text 7")) throw Object.assign(new Error("no text 7 please"), { status: 400 });',
  );
  const failed = await project.migrate([...onRay, "--json"], environment());
  expect(failed).toMatchObject({ code: 1, stdout: expect.stringContaining('"ERR_RAY_FAILED"') });
  expect(failed.stderr).toMatch(/^shard \d\/4: 0002_model.ts, step 1 \(reembedColumn\).*no text 7 please/m);
  expect(failed.stderr).toMatch(/^Ray did not prepare everything: 1 of 4 shards did not succeed: \d; fix the cause/m);
  const before = logOf(project).length;
  expect(before).toBeGreaterThan(20);
  project.write("fixed", "");
  expect(await project.migrate(onRay, environment())).toMatchObject({ code: 0 });
  expect(logOf(project)).toEqual(texts.toSorted());
});

test.skipIf(lacks("ray"))("a shard whose process is killed is started again", async () => {
  const project = await aScene(
    // The first call of its shard: the results of calls that take no time are saved together.
    'if (texts.includes("text 0") && !existsSync("killed")) { writeFileSync("killed", ""); process.kill(process.pid, "SIGKILL"); }',
  );
  const { code, stderr } = await project.migrate(onRay, environment());
  expect({ code, stderr }).toMatchObject({ code: 0 });
  expect(stderr).toMatch(/^shard \d\/4: it was killed; starting it again$/m);
  expect(logOf(project)).toEqual(texts.toSorted());
});

test.skipIf(lacks("ray"))("Ctrl-C stops the shards at safe points", async () => {
  const project = await aScene('if (!existsSync("fast")) await sleep(2_000);');
  const { process: child, finished } = project.start(onRay, environment());
  await expect.poll(() => logOf(project).length).toBeGreaterThan(0);
  child.kill("SIGINT");
  const { code, stderr } = await finished;
  expect({ code, stderr }).toMatchObject({ code: 130 });
  expect(stderr).toContain("interrupted; the next run computes only what the shards have not computed");
  expect(logOf(project).length).toBeLessThan(texts.length);
  project.write("fast", "");
  expect(await project.migrate(onRay, environment())).toMatchObject({ code: 0 });
  // Nothing was in progress that was lost.
  expect(logOf(project)).toEqual(texts.toSorted());
});

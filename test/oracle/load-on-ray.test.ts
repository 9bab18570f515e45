/** Columns whose files workers of Ray write: pylance and the client read each value, and no row moves. */
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { officialPackages, pythonWith } from "../clients/client.ts";
import { lacks } from "../support/needs.ts";
import { aProject, type Project, onStderr } from "../support/project.ts";
import { addRows, lancedb } from "../support/tables.ts";
import { startJudge } from "./judge.ts";

const [fragments, size] = [4, 100];
const textOf = (id: number) => `text ${id}`;
const vectorOf = (text: string) => [text.length, Number(text.split(" ")[1]), 0.5];

const embedder = `import { appendFileSync } from "node:fs";
export default async function embed(rows: { text: string }[]) {
  appendFileSync("log.txt", rows.map(({ text }) => text + "\\n").join(""));
  return rows.map(({ text }) => [text.length, Number(text.split(" ")[1]), 0.5]);
}
`;

async function docsIn({ database }: Project) {
  return await (await lancedb.connect(database)).openTable("docs");
}

/** A table of several fragments, and a pending migration that changes its embedding model. */
async function aScene(): Promise<Project> {
  const project = aProject();
  const columns = "{ id: m.int64().notNull(), text: m.utf8(), embedding: m.vector(2) }";
  project.migration("0001_docs.ts", `m.createTable("docs", ${columns}),`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  for (let part = 0; part < fragments; part++) {
    const ids = Array.from({ length: size }, (_, at) => part * size + at);
    await addRows(
      project.database,
      "docs",
      ids.map((id) => ({ id, text: textOf(id), embedding: [id, 1] })),
    );
  }
  project.write("embed.ts", embedder);
  const how = `from: ["text"], key: "id", with: "./embed.ts", version: "2", batch: 25`;
  project.migration("0002_model.ts", `m.reembedColumn("docs", "embedding", { type: m.vector(3), ${how} }),`);
  return project;
}

async function addressesIn(project: Project): Promise<ReadonlyMap<number, number>> {
  const found = await (await docsIn(project)).query().select(["id", "_rowaddr"]).toArray();
  return new Map(found.map((row) => [Number(row.id), Number(row._rowaddr)]));
}

async function expectRight(project: Project, changed: Readonly<Record<number, string>> = {}): Promise<void> {
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  await (await docsIn(project)).dropColumns(["_lance_migrate_kept_embedding_old"]);
  await using judge = startJudge();
  // In the order in which they are stored.
  const wanted = [...(await addressesIn(project)).keys()].map((id) => {
    const text = changed[id] ?? textOf(id);
    return { id, text, embedding_old: [id, 1], embedding: vectorOf(text) };
  });
  expect(wanted).toHaveLength(fragments * size);
  expect(await judge.difference(join(project.database, "docs.lance"), wanted)).toBeNull();
}

const onRay = ["prepare", "--on", "ray", "--shards", "4"];
const loadedAll = `docs.embedding: ${fragments * size} values loaded with files of the column\n`;

/** The processes of Ray in this folder that have such a title. */
function workersOf({ folder }: Project, title: string): readonly number[] {
  const isOne = (pid: string) => {
    try {
      return (
        readFileSync(`/proc/${pid}/cmdline`, "utf8").startsWith(title) && readlinkSync(`/proc/${pid}/cwd`) === folder
      );
    } catch {
      // It has ended meanwhile.
      return false;
    }
  };
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && isOne(name))
    .map(Number);
}

test.skipIf(lacks("ray") || lacks("python"))(
  "workers compute the rows and write the files, one that is killed too, and no row moves",
  async () => {
    const project = await aScene();
    const before = await addressesIn(project);
    const environment = { MIGRATE_PYTHON: pythonWith("ray==2.60.0", "pylance==14.0.2"), RAY_ADDRESS: "local" };
    const running = project.start(onRay, environment);
    let killed = 0;
    while (killed === 0 && running.process.exitCode === null) {
      const [worker] = workersOf(project, "ray::write_files");
      if (worker === undefined) await sleep(20);
      else {
        process.kill(worker, "SIGKILL");
        killed++;
      }
    }
    const { code, stderr } = await running.finished;
    expect({ code, stderr }).toMatchObject(onStderr(0, loadedAll));
    expect(stderr).not.toContain("this machine");
    expect(killed).toBe(1);
    expect(await addressesIn(project)).toEqual(before);
    expect(readFileSync(join(project.folder, "log.txt"), "utf8").trimEnd().split("\n").toSorted()).toEqual(
      [...before.keys()].map(textOf).toSorted(),
    );
    await expectRight(project);
  },
);

/** In place of Ray: a task runs here when its result is asked for, and then an application may write. */
const ray = `import os, threading
class Task:
    def __init__(self, function): self.function = function
    def options(self, **options): return self
    def remote(self, *given):
        return self.function(*given) if self.function.__name__ == "run_shard" else lambda: self.function(*given)
remote = Task
def init(**options): pass
def shutdown(): pass
def wait(tasks, **options): return tasks[:1], tasks[1:]
def get(task):
    if not callable(task): return task
    if os.environ.get("FAILS"): raise RuntimeError("the node is gone")
    written = task()
    open("written", "a").close()
    while not os.path.exists("go"): threading.Event().wait(0.05)
    return written
`;

function withStandIn(project: Project, environment: Readonly<Record<string, string>> = {}) {
  project.write("packages/ray.py", ray);
  const python = pythonWith(...officialPackages);
  const env = { ...environment, MIGRATE_PYTHON: python, PYTHONPATH: join(project.folder, "packages") };
  return project.start(["prepare", "--on", "ray", "--shards", "2"], env);
}

test.skipIf(lacks("python"))(
  "a fragment that an application has changed since a worker wrote its file is loaded by this machine",
  async () => {
    const project = await aScene();
    const running = withStandIn(project);
    await expect.poll(() => existsSync(join(project.folder, "written"))).toBe(true);
    const docs = await docsIn(project);
    await docs.update({ where: "id = 5", values: { text: "text 5000" } });
    await docs.delete("id = 399");
    await addRows(project.database, "docs", [{ id: 399, text: textOf(399), embedding: [399, 1] }]);
    project.write("go", "");
    const { code, stderr } = await running.finished;
    // All but the rows that were changed and added.
    const words = "docs.embedding: 399 values loaded with files of the column\n";
    expect({ code, stderr }).toMatchObject(onStderr(0, words));
    expect(stderr).not.toContain("this machine");
    await expectRight(project, { 5: "text 5000" });
  },
);

test.skipIf(lacks("python"))("what workers can't load, this machine loads, and states why", async () => {
  const project = await aScene();
  const { code, stderr } = await withStandIn(project, { FAILS: "1" }).finished;
  expect({ code, stderr }).toMatchObject(onStderr(0, loadedAll));
  expect(stderr).toContain("a worker of Ray can't load values, so this machine does: the node is gone\n");
  await expectRight(project);
});

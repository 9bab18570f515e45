/** Each state that a command can leave is reached, and both of its ways out are taken as src/errors/states.ts names them. */
import { cpSync, existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test, type TestContext } from "vitest";
import { states as ways, type StateName } from "../../src/errors/states.ts";
import { startVictim } from "../fault/start-victim.ts";
import type { Order } from "../fault/victim.ts";
import type { Running } from "../support/project.ts";
import { ofThisCommit } from "../support/rounds.ts";
import { mountSmallDisk } from "../support/small-disk.ts";
import { addNumbers, lancedb } from "../support/tables.ts";
import {
  aScene,
  aSceneAt,
  last,
  lengthCode,
  must,
  restoreFiles,
  stateOf,
  statesOf,
  type Scene,
  type State,
} from "./scene.ts";
import { onStderr } from "../support/project.ts";

let states: ReturnType<typeof statesOf> | undefined;

interface Reached {
  readonly scene: Scene;
  /** The migration that a way back leaves as the last one. */
  readonly before: number;
  /** Removes the cause, as the message asks, before the way on is taken. */
  readonly fix?: () => unknown;
  /** If the tables are others than those of test/states/scene.ts. */
  readonly expected?: { readonly before: State; readonly after: State };
}

const json = async (scene: Scene) =>
  JSON.parse((await must(scene, "status", "--json")).stdout) as {
    readonly pending: readonly { readonly inDoubt: boolean; readonly underWay: boolean; readonly done: number }[];
    readonly reverting: readonly unknown[];
    readonly late: readonly unknown[];
  };

const failing = "export default () => {\n  throw new Error('no model');\n};\n";

/** A run of 0002 or its rollback that is killed after later and later calls, until it has left what is looked for. */
async function killed(
  order: Partial<Order>,
  isThere: (found: Awaited<ReturnType<typeof json>>) => boolean,
): Promise<Scene> {
  for (let call = 1; call < 100; call += 3) {
    const scene = await aSceneAt(order.downTo === undefined ? 1 : 2);
    const { folder, database } = scene.project;
    for (const name of readdirSync(join(folder, "migrations")))
      if (name > "0003") rmSync(join(folder, "migrations", name));
    const target = { kind: "lance", uri: database } as const;
    const death = { call, place: "after" as const };
    await startVictim({ migrations: join(folder, "migrations"), target, ...order, death }, folder).finished;
    restoreFiles(scene);
    if (isThere(await json(scene))) return scene;
  }
  throw new Error("no run has left that");
}

const vectorCode = "export default (rows) => rows.map(({ heading }) => [heading.length, 1]);\n";

/** All is applied but a new model for a column. */
async function withVectors(): Promise<Scene> {
  const scene = await aSceneAt(last);
  scene.project.migration("0005_vectors.ts", `m.addColumn("docs", "at", m.vector(2))`);
  await must(scene, "up");
  scene.project.write("vector.mjs", vectorCode);
  const how = `{ type: m.vector(2), from: ["heading"], key: "id", with: "./vector.mjs", version: "2" }`;
  scene.project.migration("0006_model.ts", `m.reembedColumn("docs", "at", ${how})`);
  return scene;
}

/** A run whose code waits. */
async function waiting(scene: Scene): Promise<{ readonly running: Running; readonly letGo: () => void }> {
  scene.project.write(
    "length.mjs",
    `import { existsSync, writeFileSync } from "node:fs";
export default async (rows) => {
  writeFileSync("waits", "");
  while (!existsSync("go")) await new Promise((resolve) => setTimeout(resolve, 20));
  return rows.map(({ title }) => title.length);
};
`,
  );
  const running = scene.project.start(["up"]);
  while (!existsSync(join(scene.project.folder, "waits"))) await new Promise((resolve) => setTimeout(resolve, 20));
  return { running, letGo: () => scene.project.write("go", "") };
}

const dropAll = async ({ project }: Scene, wanted: (name: string) => boolean) => {
  const db = await lancedb.connect(project.database);
  for (const name of await db.tableNames()) if (wanted(name)) await db.dropTable(name);
};

const many = 500_000;

/** A retype that fills the disk, so that the index that it has dropped can't be created again. */
async function onFullDisk(context: TestContext): Promise<Reached> {
  const scene = aScene((folder) => mountSmallDisk(context, folder, 32));
  const { project, disk } = scene;
  await must(scene, "up");
  project.migration("0005_big.ts", `m.createTable("big", { id: m.int32() })`);
  await must(scene, "up");
  await addNumbers(project.database, "big", many, { id: (row) => row });
  project.migration("0006_index.ts", `m.createIndex("big", "id", m.btree())`);
  await must(scene, "up");
  project.migration("0007_wider.ts", `m.retypeColumn("big", "id", m.int64())`);
  const before = await stateOf(project);
  disk!.fill(400 * 1024);
  expect(await scene.migrate(["up"])).toMatchObject(onStderr(1, "index id_idx"));
  const after = { ...before, big: before["big"]!.replace("id int32", "id int64") };
  return { scene, before: last + 2, fix: () => disk!.empty(), expected: { before, after } };
}

const reach: Readonly<Record<StateName, (context: TestContext) => Promise<Reached>>> = {
  "half done": async () => {
    const scene = await aSceneAt(3);
    scene.project.write("length.mjs", failing);
    expect(await scene.migrate(["up"])).toMatchObject({ code: 1 });
    expect(await json(scene)).toMatchObject({ pending: [{ done: 2 }] });
    return { scene, before: 3, fix: () => scene.project.write("length.mjs", lengthCode) };
  },
  "between two commits": onFullDisk,
  "in doubt": async () => ({
    scene: await killed({}, ({ pending }) => pending.some(({ inDoubt, done }) => inDoubt && done > 0)),
    before: 1,
  }),
  "under way": async () => {
    const scene = await aSceneAt(3);
    const { running, letGo } = await waiting(scene);
    expect(await json(scene)).toMatchObject({ pending: [{ underWay: true }] });
    letGo();
    void running.finished;
    return { scene, before: 3 };
  },
  "being rolled back": async () => ({
    scene: await killed({ downTo: 1 }, ({ reverting }) => reverting.length > 0),
    before: 1,
  }),
  "prepared in part": async () => {
    const scene = await withVectors();
    scene.project.write("vector.mjs", failing);
    expect(await scene.migrate(["prepare"])).toMatchObject({ code: 1 });
    const undisturbed = await withVectors();
    const before = await stateOf(undisturbed.project);
    await must(undisturbed, "up");
    const after = await stateOf(undisturbed.project);
    return {
      scene,
      before: last + 1,
      fix: () => scene.project.write("vector.mjs", vectorCode),
      expected: { before, after },
    };
  },
  "ledger lost": async () => {
    const scene = await aSceneAt(1);
    await dropAll(scene, (name) => name.startsWith("_migrations"));
    return { scene, before: 0 };
  },
  "tables behind": async () => {
    const scene = await aSceneAt(2);
    cpSync(scene.project.database, join(scene.aside, "database"), { recursive: true });
    await must(scene, "up");
    await dropAll(scene, (name) => !name.startsWith("_migrations"));
    for (const name of readdirSync(join(scene.aside, "database")))
      if (!name.startsWith("_migrations"))
        cpSync(join(scene.aside, "database", name), join(scene.project.database, name), { recursive: true });
    return { scene, before: 1 };
  },
  "table gone": async () => {
    const scene = await aSceneAt(1);
    await dropAll(scene, () => true);
    rmSync(scene.project.database, { recursive: true });
    return { scene, before: 0 };
  },
};

const names = Object.keys(ways) as readonly StateName[];
/** Each commit continues from a quarter of the states, and goes back from another one. */
const tried = ofThisCommit(
  names.flatMap((name, at) => (at % 4 < 2 ? [`on ${name}`, `back ${name}`] : [`back ${name}`, `on ${name}`])),
  4,
);
/** Those that `status` sees in the ledger as soon as they are there: a killed run seems to be at work at first. */
const shown: ReadonlySet<StateName> = new Set([
  "half done",
  "between two commits",
  "being rolled back",
  "prepared in part",
]);
const from = (way: "on" | "back") => names.filter((name) => tried.includes(`${way} ${name}`));

/** Runs the commands, with the consent that a message asks for. */
async function take(commands: string, scene: Scene, version: number): Promise<void> {
  for (const command of commands.replaceAll(" N", ` ${version}`).split(", then ")) {
    const [, ...args] = command.split(" ");
    const { code, stderr } = await scene.migrate(args);
    if (code !== 0)
      await must(scene, ...args, ...(stderr.includes("pass --accept lossy") ? ["--accept", "lossy"] : []));
  }
}

test.for(from("on"))("the way on from: %s", async (name, context) => {
  const { scene, before, fix, expected } = await reach[name](context);
  if (shown.has(name))
    expect((await must(scene, "status")).stdout).toContain(` is ${name}: to continue, ${ways[name].on}; to go back, `);
  await fix?.();
  await take(ways[name].on, scene, before + 1);
  expect(await stateOf(scene.project)).toEqual(expected?.after ?? (await (states ??= statesOf()))[last]);
  await must(scene, "verify");
});

test.for(from("back"))("the way back from: %s", async (name, context) => {
  const { scene, before, fix, expected } = await reach[name](context);
  // What continues first needs what the message asks for.
  if (ways[name].back.startsWith("migrate up")) await fix?.();
  await take(ways[name].back, scene, before + 1);
  expect(await stateOf(scene.project)).toEqual(expected?.before ?? (await (states ??= statesOf()))[before]);
  await must(scene, "verify");
});

test("a backfill that was interrupted is half done, and can be rolled back at once", async () => {
  const scene = await aSceneAt(3);
  const { running } = await waiting(scene);
  running.process.kill("SIGINT");
  const { code, stderr } = await running.finished;
  expect([code, stderr]).toEqual([130, expect.stringContaining("docs.length is computed in part")]);
  const { stdout } = await must(scene, "status");
  expect(stdout).toContain("and it stopped between two commits of action 3: interrupted");
  expect(stdout).toContain(` is half done: to continue, ${ways["half done"].on}; to go back, `);
  await take(ways["half done"].back, scene, 4);
  expect(await stateOf(scene.project)).toEqual((await (states ??= statesOf()))[3]);
  const left = await (await lancedb.connect(scene.project.database)).tableNames();
  expect(left.filter((name) => name.includes("computed"))).toEqual([]);
  await must(scene, "verify");
});

/** `migrate reset`: all tables of migrations, made again. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { killAt } from "../support/kill-moments.ts";
import { aProject, onStderr, type Processes, type Project } from "../support/project.ts";
import { addRows, lancedb, rowsOf } from "../support/tables.ts";

async function aScene(push = true, processes: Processes = "shared"): Promise<Project> {
  const project = aProject(processes);
  project.write(
    "migrate.config.ts",
    `export default { targets: { local: { kind: "lance", uri: ".lancedb", push: ${push} } } };`,
  );
  project.migration(
    "0001_docs.ts",
    `m.createTable("docs", { id: m.int64() }), m.insertRows("docs", [{ id: 1 }], { key: "id" })`,
  );
  project.migration("0002_gone.ts", `m.createTable("other", { id: m.int64() }), m.addColumn("docs", "n", m.int32())`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  await addRows(project.database, "docs", [{ id: 2n, n: 3 }]);
  await (await lancedb.connect(project.database)).createTable("own", [{ id: 9 }]);
  return project;
}

async function isAsMade({ database }: Project): Promise<void> {
  expect(await rowsOf(database, "docs")).toEqual([{ id: 1, n: null }]);
  expect(await rowsOf(database, "other")).toEqual([]);
  expect(await rowsOf(database, "own")).toEqual([{ id: 9 }]);
}

test("the tables of migrations are made again with the rows of migrations, and no other is touched", async () => {
  const project = await aScene();
  expect(await project.migrate(["reset"])).toMatchObject(
    onStderr(2, "migrate reset asks at a terminal; with --yes it asks nothing"),
  );
  expect(await rowsOf(project.database, "docs")).toHaveLength(2);
  const { code, stdout } = await project.migrate(["reset", "--yes"]);
  expect([code, stdout]).toEqual([
    0,
    expect.stringMatching(/^drop docs with 2 rows\ndrop other with 0 rows\napplied [^]*2 migrations applied\n$/),
  ]);
  await isAsMade(project);
  expect((await project.migrate(["status"])).stdout).toContain("2 migrations applied");
  // Also with an edited file, which up would refuse.
  project.migration("0002_gone.ts", `m.createTable("other", { id: m.int32() }), m.addColumn("docs", "n", m.int32())`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 4 });
  const { stdout: events } = await project.migrate(["reset", "--yes", "--json"]);
  expect(JSON.parse(events.split("\n")[0]!)).toEqual({ event: "reset", tables: ["docs", "other"] });
  await isAsMade(project);
});

/** Kills the process before it drops its first table, its second and so on. */
const killing = `import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
const { renameSync } = fs;
let left = Number(process.env.DROPS);
fs.renameSync = (from, to) => {
  if (String(from).endsWith(".lance") && left-- === 0) process.kill(process.pid, "SIGKILL");
  return renameSync(from, to);
};
syncBuiltinESMExports();
`;

test.each([0, 1, 2])(
  "after a kill with %i tables dropped, up takes no dropped table for applied, and the next reset does the rest",
  async (drops) => {
    const project = await aScene(true, "own");
    project.write("killing.mjs", killing);
    const env = {
      NODE_OPTIONS: `--import=${pathToFileURL(join(project.folder, "killing.mjs")).href}`,
      DROPS: String(drops),
    };
    const { process: killed, finished } = project.start(["reset", "--yes"], env);
    const { stdout, stderr } = await finished;
    expect(killed.signalCode, stdout + stderr).toBe("SIGKILL");
    expect(await project.migrate(["up"])).toMatchObject(
      drops === 0 ? { code: 0 } : onStderr(4, "is not as the ledger records: it exists, but should not"),
    );
    expect(await project.migrate(["reset", "--yes"])).toMatchObject({ code: 0 });
    await isAsMade(project);
  },
);

test("tables of migrations whose files are gone are dropped too", async () => {
  const project = await aScene();
  rmSync(join(project.folder, "migrations/0002_gone.ts"));
  const { code, stdout } = await project.migrate(["reset", "--yes"]);
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^drop docs with 2 rows\ndrop other with 0 rows\n/)]);
  expect(await (await lancedb.connect(project.database)).tableNames()).not.toContain("other");
});

test("a run that holds the lease is not disturbed, and a killed one only until its lease has run out", async () => {
  const killedUp = async (...flags: readonly string[]) => {
    const project = await aScene(true, "own");
    project.migration("0003_more.ts", `m.createTable("more", { id: m.int64() }), m.addColumn("more", "n", m.int32())`);
    await killAt(project, ["up", "--json", ...flags], { lines: 2, share: 0 });
    return project;
  };
  expect(await (await killedUp()).migrate(["reset", "--yes"])).toMatchObject(
    onStderr(4, "wait until that run has ended or its lease has run out, then run migrate reset again"),
  );
  const project = await killedUp("--lease", "1");
  await expect.poll(async () => (await project.migrate(["reset", "--yes"])).code).toBe(0);
  await isAsMade(project);
});

test("a target that does not allow push is left as it is", async () => {
  const project = await aScene(false);
  expect(await project.migrate(["reset", "--yes"])).toMatchObject(
    onStderr(
      4,
      "migrate.config.ts does not allow it on target local; roll everything back with migrate down --to 0, or set push: true",
    ),
  );
  expect(await rowsOf(project.database, "docs")).toHaveLength(2);
});

/** One file with all migrations: made by `migrate build`, and run where there are no migration files. */
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { loadCommands } from "../../src/main/commands/registry.ts";
import { textHash } from "../../src/migrations/checksum.ts";
import {
  aProject,
  runCommand,
  temporaryFolder,
  type Finished,
  type Project,
  onStderr,
  onStdout,
} from "../support/project.ts";
import { aService, apiKey } from "../support/service.ts";
import { addRows, columnsOf, lancedb, versionsOf } from "../support/tables.ts";
import { rounds } from "../support/rounds.ts";

const name = "migrations.bundle.json";
const create = `m.createTable("documents", { id: m.int32(), title: m.utf8() }),`;
const rename = `m.renameColumn("documents", "title", "headline"), m.retypeColumn("documents", "id", m.int64()),`;
const bundle = ["--bundle", name];
const commands = await loadCommands();

interface Deployed extends Project {
  /** The folder of the tables. */
  readonly data: string;
  /** A folder with a configuration and the bundle, and nothing else. */
  readonly image: string;
  /** Builds the bundle and moves it to that folder. */
  build(): Promise<void>;
  /** Runs a command with the bundle there. */
  deploy(...args: readonly string[]): Promise<Finished>;
  /** Runs a command in the project, with files. */
  files(...args: readonly string[]): Promise<Finished>;
}

async function deployed(way: "lance" | "namespace" | "service" = "lance"): Promise<Deployed> {
  const project = aProject();
  const service = way === "lance" ? undefined : await aService();
  const target =
    service === undefined
      ? { kind: "lance", uri: project.database }
      : { kind: "rest", endpoint: service.url, dialect: way };
  const config = `export default { targets: { here: ${JSON.stringify(target)} } };\n`;
  project.write("migrate.config.ts", config);
  project.migration("0001_create.ts", create);
  project.migration("0002_rename.ts", rename);
  const image = temporaryFolder();
  writeFileSync(join(image, "migrate.config.mjs"), config);
  const env: Readonly<Record<string, string>> = service === undefined ? {} : { MIGRATE_API_KEY: apiKey };
  return {
    ...project,
    data: service?.data ?? project.database,
    image,
    async build() {
      const path = join(image, name);
      expect(await project.migrate(["build", "--out", path])).toMatchObject({ code: 0, stderr: "" });
      expect(readdirSync(image).toSorted()).toEqual(["migrate.config.mjs", name]);
    },
    deploy: (...args) => runCommand({ folder: image, args: [...args, ...bundle], env }, "shared"),
    files: (...args) => project.migrate(args, env),
  };
}

/** What the ledger records of migrations that is the same wherever and whenever they run. */
/** Each once: how many records a run writes depends on how fast the machine is. */
async function hashesIn(run: Deployed["files"]): Promise<ReadonlySet<string>> {
  const { records } = JSON.parse((await run("history", "--json")).stdout) as {
    readonly records: readonly Readonly<Record<string, unknown>>[];
  };
  const hashes = records.map(({ version, checksum, textHash: text, steps, applied }) => [
    version,
    checksum,
    text,
    steps,
    applied,
  ]);
  return new Set(hashes.map((all) => JSON.stringify(all)));
}

const done = { code: 0, stdout: "nothing to do\n", stderr: "" };

/** Where the ledger has rows, and where it has markers; namespace has rows too. */
const ways = ["lance", "service", "namespace"] as const;

describe.each(ways.slice(0, rounds(2, 3)))("on %s", (way) => {
  test("a bundle is applied without files, and nothing is pending with either", async () => {
    const { build, deploy, files, data, migration } = await deployed(way);
    await build();
    expect(await deploy("status", "--check")).toMatchObject({ code: 3 });
    expect(await deploy("up")).toMatchObject(onStdout(0, "2 migrations applied\n"));
    expect(await columnsOf(data, "documents")).toEqual(["id: int64", "headline: utf8"]);
    const versions = await versionsOf(data);
    for (const run of [deploy, files]) {
      expect(await run("up")).toEqual(done);
      expect(await run("plan")).toEqual(done);
      expect(await run("status", "--check")).toMatchObject({ code: 0, stderr: "" });
      expect(await run("verify")).toMatchObject({ code: 0, stderr: "" });
    }
    expect((await deploy("status", "--json")).stdout).toBe((await files("status", "--json")).stdout);
    expect(await versionsOf(data)).toEqual(versions);

    migration("0003_number.ts", `m.renameColumn("documents", "id", "number")`);
    expect(await files("up")).toMatchObject(onStdout(0, "applied 0003_number"));
    expect((await deploy("status")).stdout).toMatch(
      /^applied {2}0003_number .*it is not in migrations\.bundle\.json$/m,
    );
    expect(await deploy("up")).toEqual({
      ...done,
      stderr: "note: applied here and not in migrations.bundle.json: 0003_number\n",
    });
    expect(await deploy("verify")).toEqual({
      code: 4,
      stdout: "",
      stderr:
        "0003_number was applied, but migrations.bundle.json does not contain it; make a new bundle with migrate build where its file is, or deploy a release that has it; if the file is lost, see migrate resolve --help\n",
    });
    expect((await deploy("resolve", "--reverted", "3")).stdout).toMatch(
      /^0003_number is applied here; it is not in migrations\.bundle\.json$/m,
    );
    await build();
    expect(await deploy("up")).toEqual(done);
    expect(await deploy("status", "--check")).toMatchObject({ code: 0 });
    expect(await deploy("down")).toMatchObject(onStdout(0, "rolled back 0003_number"));
    expect(await columnsOf(data, "documents")).toEqual(["id: int64", "headline: utf8"]);
  });

  test("a run with the bundle records the same hashes as a run with files", async () => {
    const [one, other] = [await deployed(way), await deployed(way)];
    await one.build();
    expect(await one.deploy("up")).toMatchObject({ code: 0 });
    expect(await other.files("up")).toMatchObject({ code: 0 });
    expect(await hashesIn(one.files)).toEqual(await hashesIn(other.files));
  });

  test("a plan that was saved from files is carried out with the bundle, and the other way round", async () => {
    const { build, deploy, files, folder, image } = await deployed(way);
    const plan = join(folder, "plan.json");
    await build();
    expect(await files("up", "--to", "1")).toMatchObject({ code: 0 });
    const json = (await files("plan", "--json")).stdout;
    expect((await deploy("plan", "--json")).stdout).toBe(json);
    expect(json).toContain('"file":"0002_rename.ts"');
    expect(await files("plan", "--out", plan)).toMatchObject({ code: 0 });
    expect(await deploy("up", "--plan", plan)).toMatchObject({ code: 0 });
    expect(await deploy("plan", "--down", "--out", join(image, "back.json"))).toMatchObject({ code: 0 });
    expect(await files("down", "--plan", join(image, "back.json"))).toMatchObject({ code: 0 });
  });
});

test("a migration that was begun with files is finished with the bundle", async () => {
  const { build, deploy, files, data, migration } = await deployed();
  expect(await files("up", "--to", "1")).toMatchObject({ code: 0 });
  await addRows(data, "documents", [{ id: 1, title: "words" }]);
  migration(
    "0002_rename.ts",
    `m.retypeColumn("documents", "id", m.int64()), m.addColumn("documents", "n", m.int32(), { as: "cast(title as int)" })`,
  );
  expect(await files("up")).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^0002_rename\.ts, step 2 .*failed/m),
  });
  await build();
  const failed = await deploy("up");
  expect(failed.stderr).toMatch(/0002_rename\.ts in migrations\.bundle\.json, step 2 \(addColumn\)/);
  await (await (await lancedb.connect(data)).openTable("documents")).update({ values: { title: "5" } });
  expect(await deploy("up")).toMatchObject(onStdout(0, "applied 0002_rename"));
  expect(await files("up")).toEqual(done);
});

test("baseline, rehearse, repair and resolve read the bundle", async () => {
  const { build, deploy, files, data } = await deployed();
  await build();
  expect(await deploy("rehearse")).toMatchObject(onStdout(0, "0002_rename"));
  expect(await files("up")).toMatchObject({ code: 0 });
  const db = await lancedb.connect(data);
  await db.dropTable("_migrations");
  expect(await deploy("repair")).toMatchObject(onStdout(4, "0002_rename"));
  expect(await deploy("baseline")).toMatchObject(onStdout(0, "0002_rename"));
  expect(await files("up")).toEqual(done);
  expect(await deploy("resolve", "--reverted", "2", "--yes")).toMatchObject({ code: 0 });
  expect(await deploy("resolve", "--adopted", "2", "--yes")).toMatchObject({ code: 0 });
  expect(await files("up")).toEqual(done);
});

test("a run with nothing pending checks no migration of the bundle", async () => {
  const { build, deploy, image } = await deployed();
  await build();
  expect(await deploy("up")).toMatchObject({ code: 0 });
  const path = join(image, name);
  const open = readFileSync(path, "utf8")
    .replaceAll('"kind":"', '"kind":"un')
    .replace(/"hash": "\w+"/, '"hash": ""');
  writeFileSync(path, open.replace('"hash": ""', `"hash": "${textHash(open)}"`));
  expect(await deploy("up")).toEqual(done);
  expect(await deploy("verify")).toMatchObject(
    onStderr(4, "0001_create.ts in migrations.bundle.json, step 1 (uncreateTable): there is no step kind"),
  );
});

test("a migration that was changed after it ran is named with the bundle", async () => {
  const { build, deploy, migration } = await deployed();
  await build();
  expect(await deploy("up")).toMatchObject({ code: 0 });
  migration("0002_rename.ts", rename.replace("int64", "int16"));
  await build();
  const words =
    "0002_rename.ts in migrations.bundle.json was changed after it was applied: step 2 (retypeColumn) is not the step that ran; restore it and put the change in a new migration\n";
  expect(await deploy("up")).toEqual({ code: 4, stdout: "", stderr: words });
  expect(await deploy("status", "--check")).toMatchObject(onStdout(4, words));
});

describe("build", () => {
  function written(): Project {
    const project = aProject();
    project.migration("0001_create.ts", create);
    project.migration("0002_rename.ts", rename);
    return project;
  }
  const textOf = (project: Project, file = name) => readFileSync(join(project.folder, file), "utf8");

  test("writes the file beside the configuration, or where --out names it", async () => {
    const project = written();
    project.write("ops/migrate.config.ts", `export default { migrations: "../migrations" };\n`);
    expect(await project.migrate(["build"])).toEqual({ code: 0, stdout: `wrote ${name}\n`, stderr: "" });
    expect(await project.migrate(["build", "--config", "ops/migrate.config.ts"])).toMatchObject({
      code: 0,
      stdout: `wrote ops/${name}\n`,
    });
    expect(await project.migrate(["build", "--out", "dist/all.json", "--json"])).toEqual({
      code: 0,
      stdout: `{"file":"dist/all.json","migrations":2,"written":true}\n`,
      stderr: "",
    });
    expect(textOf(project, "dist/all.json")).toBe(textOf(project));
    expect(textOf(project, `ops/${name}`)).toBe(textOf(project));
  });

  test("writes nothing if the file is up to date", async () => {
    const project = written();
    await project.migrate(["build"]);
    const { mtimeMs } = statSync(join(project.folder, name));
    expect(await project.migrate(["build"])).toEqual({
      code: 0,
      stdout: `nothing to do: ${name} is up to date\n`,
      stderr: "",
    });
    expect(statSync(join(project.folder, name)).mtimeMs).toBe(mtimeMs);
  });

  test("with --check ends with 3 while the file is missing or out of date, and writes nothing", async () => {
    const project = written();
    const check = (...args: readonly string[]) => project.migrate(["build", "--check", ...args]);
    expect(await check()).toEqual({ code: 3, stdout: "", stderr: `${name} is missing; migrate build writes it\n` });
    expect(existsSync(join(project.folder, name))).toBe(false);
    await project.migrate(["build"]);
    const text = textOf(project);
    expect(await check()).toEqual({ code: 0, stdout: `equal: ${name} is up to date\n`, stderr: "" });
    project.write(name, text.replaceAll("\n", "\r\n"));
    expect(await check("--json")).toMatchObject({
      code: 0,
      stdout: `{"file":"${name}","migrations":2,"stale":false}\n`,
    });
    project.migration("0002_rename.ts", rename.replace("int64", "int16"));
    project.write(name, text);
    expect(await check("--out", name)).toEqual({
      code: 3,
      stdout: "",
      stderr: `${name} is out of date; migrate build --out ${name} writes it\n`,
    });
    expect(textOf(project)).toBe(text);
    project.write(name, text.slice(0, 200));
    expect(await check()).toMatchObject({ code: 3 });
    expect(await project.migrate(["build"])).toMatchObject({ code: 0, stdout: `wrote ${name}\n` });
  });

  test("opens no target, so none must be chosen", async () => {
    const project = written();
    const target = { kind: "rest", dialect: "namespace" };
    project.write(
      "migrate.config.ts",
      `export default ${JSON.stringify({ targets: { one: target, other: target } })};\n`,
    );
    expect(await project.migrate(["lint"])).toMatchObject(onStderr(2, "several targets"));
    expect(await project.migrate(["build"])).toMatchObject({ code: 0, stderr: "" });
  });

  test.each([{ what: "has an invalid step", up: "[5]", says: "0003_bad.ts, step 1: is not a step" }])(
    "writes nothing if a migration $what",
    async ({ up, says }) => {
      const project = written();
      project.write("migrations/0003_bad.ts", `import * as m from "lance-migrate";\nexport const up = ${up};\n`);
      for (const args of [[], ["--check"]])
        expect(await project.migrate(["build", ...args])).toMatchObject({
          code: 4,
          stdout: "",
          stderr: expect.stringContaining(says),
        });
      expect(existsSync(join(project.folder, name))).toBe(false);
    },
  );
});

describe("is refused with 2, and nothing is done", () => {
  test.each([
    {
      what: "a changed bundle",
      edit: (text: string) => text.replace('"headline"', '"heading"'),
      says: "was changed after it was made; change the migration files instead, and make a new one with migrate build",
    },
  ])("$what", async ({ edit, says }) => {
    const { build, deploy, image, data } = await deployed();
    await build();
    const path = join(image, name);
    writeFileSync(path, edit(readFileSync(path, "utf8")));
    for (const command of [["up"], ["verify"]])
      expect(await deploy(...command)).toEqual({ code: 2, stdout: "", stderr: `the bundle ${name} ${says}\n` });
    expect(existsSync(data) ? readdirSync(data) : []).toEqual([]);
  });

  test("a missing bundle", async () => {
    const { deploy } = await deployed();
    expect(await deploy("up")).toEqual({
      code: 2,
      stdout: "",
      stderr: `the bundle ${name} does not exist; check --bundle, or make one with migrate build\n`,
    });
  });

  const others = commands.flatMap(({ name, flags }) => ("bundle" in flags ? [] : name));
  test.each(others.slice(0, rounds(2, others.length)))("--bundle of %s", async (command) => {
    const { build, deploy, image } = await deployed();
    await build();
    expect(await deploy(command)).toEqual({
      code: 2,
      stdout: "",
      stderr: `migrate ${command} takes no --bundle; only commands that compare migrations with a database do; see migrate ${command} --help\n`,
    });
    expect(readdirSync(image).toSorted()).toEqual(["migrate.config.mjs", name]);
  });

  test.each(["--write", "--ledger"])("--bundle of verify %s", async (flag) => {
    const { build, deploy } = await deployed();
    await build();
    expect(await deploy("verify", flag)).toEqual({
      code: 2,
      stdout: "",
      stderr: `--bundle and ${flag} can't be used together\n`,
    });
  });
});

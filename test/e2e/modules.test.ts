/** What a run loads: most of the time of a run with nothing pending is the loading of modules. */
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { aService, apiKey } from "../support/service.ts";
import { columnsOf } from "../support/tables.ts";
import { manyProjects, type SmallProject } from "./support/many-projects.ts";

interface Load {
  readonly specifier: string;
  readonly url: string;
  /** Who asked for it, as a URL; empty for what was given on the command line. */
  readonly parent: string;
}

const { project } = manyProjects();
const hooks = new URL("support/log-modules.ts", import.meta.url).href;

async function loadsOf(runner: SmallProject, args: readonly string[], exitCode = 0): Promise<readonly Load[]> {
  const log = join(runner.folder, `${args.join("-")}.log`);
  const { code, stderr } = await runner.migrate(args, { NODE_OPTIONS: `--import ${hooks}`, MODULES_LOG: log });
  expect({ code, stderr }).toMatchObject({ code: exitCode });
  const lines = existsSync(log) ? readFileSync(log, "utf8").trimEnd().split("\n") : [];
  return lines.map((line) => JSON.parse(line) as Load);
}

/** The packages loaded because a file outside node_modules asked for them: ours, or the project's. */
function packagesAskedFor(loads: readonly Load[]): readonly string[] {
  const asked = loads
    .filter(({ parent, url }) => url.includes("/node_modules/") && !parent.includes("/node_modules/"))
    .map(({ url }) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)![1]!);
  return [...new Set(asked)].toSorted();
}

/** The loaded files of the built package that contain zod. */
function withZod(loads: readonly Load[]): readonly string[] {
  const dist = new URL("../../dist/", import.meta.url);
  const hasZod = (url: URL | string) => readFileSync(new URL(url), "utf8").includes("$ZodType");
  // Otherwise this would find nothing, whatever is loaded.
  expect(readdirSync(dist).filter((name) => name.endsWith(".js") && hasZod(new URL(name, dist)))).not.toEqual([]);
  return loads.map(({ url }) => url).filter((url) => url.startsWith(dist.href) && hasZod(url));
}

function migrationsIn(loads: readonly Load[]): readonly string[] {
  return loads.map(({ url }) => url).filter((url) => url.includes("/migrations/"));
}

const migration = (steps: string) => `import * as m from "lance-migrate";\n\nexport const up = [${steps}];\n`;
const files = {
  "migrations/0001_documents.ts": migration(`m.createTable("documents", { id: m.int32(), title: m.utf8() })`),
  "migrations/0002_headlines.ts": migration(`m.renameColumn("documents", "title", "headline")`),
};

describe("with nothing pending", () => {
  let applied: SmallProject;
  const known = new Map<string, Promise<readonly Load[]>>();
  /** Several tests look at the same run. */
  function loadsOnce(command: string): Promise<readonly Load[]> {
    const loads = known.get(command) ?? loadsOf(applied, [command]);
    known.set(command, loads);
    return loads;
  }
  beforeAll(async () => {
    applied = project(files);
    expect(await applied.migrate(["up"])).toMatchObject({ code: 0 });
  });

  test.each(["up", "plan", "status", "history"])("%s evaluates no migration", async (command) => {
    const loads = await loadsOnce(command);
    expect(loads.length).toBeGreaterThan(0);
    expect(migrationsIn(loads)).toEqual([]);
  });

  test.each(["up", "status", "history"])("%s asks for no package but the engine", async (command) => {
    expect(packagesAskedFor(await loadsOnce(command))).toEqual(["@lancedb/lancedb"]);
  });

  test("up loads no zod", async () => {
    const config = `import { defineConfig } from "lance-migrate";\nexport default defineConfig({});\n`;
    const configured = project({ ...files, "migrate.config.ts": config });
    expect(await configured.migrate(["up"])).toMatchObject({ code: 0 });
    const loads = await loadsOf(configured, ["up"]);
    expect(loads.map(({ specifier }) => specifier)).toContain("lance-migrate");
    expect(withZod(loads)).toEqual([]);
  });

  test.each(["up", "status", "history"])(
    "%s loads the engine's binding, without its JavaScript and Arrow",
    async (command) => {
      const loads = await loadsOnce(command);
      const asking = loads.map(({ parent }) => parent).filter((parent) => parent.includes("/node_modules/"));
      expect([...new Set(asking)]).toEqual([expect.stringMatching(/\/@lancedb\/lancedb\/dist\/native\.js$/)]);
    },
  );

  test.each(["-q", "--json", "-t local", "--accept=lossy", "-v --no-color --by Ada"])(
    "up %s loads the same files as up",
    async (flags) => {
      const urlsOf = (loads: readonly Load[]) => [...new Set(loads.map(({ url }) => url))].toSorted();
      expect(urlsOf(await loadsOf(applied, ["up", ...flags.split(" ")]))).toEqual(urlsOf(await loadsOnce("up")));
    },
  );

  test("up loads nothing that only other commands need", async () => {
    const loads = await loadsOnce("up");
    const heavy =
      /\/node_modules\/(ts-morph|@ts-morph|typescript|undici|yargs|zod|fastify|@fastify)\/|create-migration/;
    expect(loads.map(({ url }) => url).filter((url) => heavy.test(url))).toEqual([]);
  });
});

test("up with nothing pending on a service loads no package at all", async () => {
  const service = await aService();
  const config = `export default { targets: { here: { kind: "rest", endpoint: "${service.url}", apiKey: "${apiKey}" } } };`;
  const applied = project({ ...files, "migrate.config.ts": config });
  expect(await applied.migrate(["up"])).toMatchObject({ code: 0 });
  const loads = await loadsOf(applied, ["up"]);
  expect(loads.length).toBeGreaterThan(0);
  expect([packagesAskedFor(loads), migrationsIn(loads), withZod(loads)]).toEqual([[], [], []]);
});

describe("a command that needs no engine loads none", () => {
  test.each([
    { args: ["--help"] },
    { args: ["--version"] },
    { args: ["lint"] },
    { args: ["new", "third"] },
    { args: ["frobnicate"], exitCode: 2 },
  ])("migrate $args.0", async ({ args, exitCode }) => {
    const loads = await loadsOf(project(files), args, exitCode);
    expect(packagesAskedFor(loads)).toEqual([]);
    // What reads and writes rows.
    expect(loads.filter(({ url }) => url.includes("/dist/arrow-"))).toEqual([]);
  });

  test.each([{ args: ["up", "--dry-run"] }, { args: ["status"] }])(
    "migrate $args.0 $args.1 where there is no database",
    async ({ args }) => {
      const scene = project({ ...files, "migrate.config.js": "export default {};\n" });
      rmSync(join(scene.folder, ".lancedb"), { recursive: true });
      expect(packagesAskedFor(await loadsOf(scene, args))).toEqual([]);
    },
  );
});

describe("ts-morph", () => {
  test("is loaded by new with steps, which it checks", async () => {
    const steps = ["--drop-column", "documents.headline"];
    expect(packagesAskedFor(await loadsOf(project(files), ["new", "third", ...steps]))).toContain("ts-morph");
  });

  test("is not loaded by new where a step can't work", async () => {
    const wrong = ["new", "third", "--drop-column", "documents.nix"];
    expect(packagesAskedFor(await loadsOf(project(files), wrong, 4))).toEqual([]);
  });

  test("is loaded by generate only when it writes", async () => {
    const declared = `import { defineSchema, int32 } from "lance-migrate";\nexport default defineSchema({ t: { a: int32() } });\n`;
    const folder = project({ ...files, "schema.ts": declared });
    expect(packagesAskedFor(await loadsOf(folder, ["generate", "--check"], 3))).not.toContain("ts-morph");
  });

  test("is not loaded by lint, whatever it finds", async () => {
    const declared = `import { defineSchema, int32 } from "lance-migrate";\nexport default defineSchema({ documents: { title: int32() } });\n`;
    const more = { "schema.ts": declared, "migrations/0003_bad.ts": migration(`5, m.dropColumn("documents", "nix")`) };
    expect(packagesAskedFor(await loadsOf(project({ ...files, ...more }), ["lint"], 4))).not.toContain("ts-morph");
  });
});

test("a run step by step loads the engine's binding alone, if it creates and renames", async () => {
  expectBindingAlone(await loadsOf(project(files), ["up", "--step-by-step"]));
});

function expectBindingAlone(loads: readonly Load[]): void {
  const asked = loads.map(({ url }) => url).filter((url) => /\/node_modules\/(@lancedb|apache-arrow)\//.test(url));
  expect(asked.map((url) => url.replace(/.*\/node_modules\//, ""))).toContain("@lancedb/lancedb/dist/native.js");
  expect(asked.filter((url) => /apache-arrow|table\.js/.test(url))).toEqual([]);
}

test("a run that needs the engine's JavaScript loads Arrow once, on the engine's account alone", async () => {
  const drop = { "migrations/0003_drop.ts": migration(`m.dropColumn("documents", "id")`) };
  const loads = await loadsOf(project({ ...files, ...drop }), ["up", "--accept", "lossy"]);
  const arrow = loads.filter(({ url }) => url.includes("/node_modules/apache-arrow/"));
  expect(arrow.length).toBeGreaterThan(0);
  const parents = arrow.map(({ parent }) => parent);
  expect(parents.filter((parent) => !/\/node_modules\/(@lancedb|apache-arrow)\//.test(parent))).toEqual([]);
  // Its ES modules beside its CommonJS ones would be a second copy.
  expect(arrow.filter(({ url }) => url.endsWith(".mjs"))).toEqual([]);
});

test("a pending migration is loaded once, with the engine's binding alone, and the package that all of them import is looked for once", async () => {
  const loads = await loadsOf(project(files), ["up"]);
  const names = migrationsIn(loads).map((url) => url.replace(/.*\/|\?.*/g, ""));
  expect(names).toEqual(["0001_documents.ts", "0002_headlines.ts"]);
  expect(packagesAskedFor(loads)).not.toContain("ts-morph");
  expectBindingAlone(loads);
  const asking = loads.filter(({ specifier }) => specifier === "lance-migrate").map(({ parent }) => parent);
  expect(asking).toEqual([expect.stringContaining("/0001_documents.ts")]);
});

test("a module in another folder gets the package that is nearest to it", async () => {
  const words = (folder: string, name: string) => ({
    [`${folder}/node_modules/words/package.json`]: `{ "type": "module", "exports": "./index.js" }`,
    [`${folder}/node_modules/words/index.js`]: `export const name = "${name}";`,
  });
  const runner = project({
    ...words(".", "outer"),
    ...words("migrations/lib", "inner"),
    "migrations/lib/column.ts": `export { name } from "words";`,
    "migrations/0001_documents.ts": `import { name } from "words";\n${migration(`m.createTable("documents", { [name]: m.int32() })`)}`,
    "migrations/0002_column.ts": `import { name } from "./lib/column.ts";\n${migration(`m.addColumn("documents", name, m.int32())`)}`,
    "migrations/0003_rename.ts": `import { name } from "words";\n${migration(`m.renameColumn("documents", name, "last")`)}`,
  });
  expect(await runner.migrate(["up"])).toMatchObject({ code: 0 });
  expect(await columnsOf(join(runner.folder, ".lancedb"), "documents")).toEqual(["last: int32", "inner: int32"]);
});

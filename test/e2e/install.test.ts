/** What a production install of the package brings along, in a folder far from the packages of this repository. */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { root, startNode, temporaryFolderOfFile } from "../support/project.ts";
import { aService, apiKey } from "../support/service.ts";
import { strictConfig, typeProblems } from "../support/type-check.ts";

const folder = temporaryFolderOfFile();
let tarball: string;
/** A project in which the package is installed. */
let service: string;

/** npm in a project; packages that `npm ci` has fetched come from its cache. */
function npm(project: string, ...args: readonly string[]): string {
  const usual = ["--omit=dev", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund", "--silent"];
  return execFileSync("npm", [...args, ...usual], { cwd: project, encoding: "utf8" });
}

function projectIn(name: string, dependencies = {}): string {
  const project = join(folder, name);
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), JSON.stringify({ type: "module", dependencies }));
  return project;
}

/** The packages in a folder of packages, and in those of its packages. */
function packagesIn(packages: string): readonly string[] {
  if (!existsSync(packages)) return [];
  return readdirSync(packages).flatMap((name) => {
    if (name.startsWith(".")) return [];
    const place = join(packages, name);
    return name.startsWith("@") ? packagesIn(place) : [place, ...packagesIn(join(place, "node_modules"))];
  });
}

function bytesIn(path: string): number {
  if (!lstatSync(path).isDirectory()) return lstatSync(path).size;
  return readdirSync(path).reduce((sum, name) => sum + bytesIn(join(path, name)), 0);
}

beforeAll(() => {
  const packed = execFileSync("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", folder], {
    cwd: root,
    encoding: "utf8",
    stdio: "pipe",
  });
  const [{ filename }] = JSON.parse(packed) as [{ filename: string }];
  tarball = join(folder, filename);
  service = projectIn("service");
  npm(service, "install", tarball);
});

test("a project for a service gets this package alone, and applies migrations with rows", async () => {
  const project = service;
  const tool = join(project, "node_modules/lance-migrate");
  const others = packagesIn(join(project, "node_modules")).filter((place) => place !== tool);
  expect(others).toEqual([]);
  // With the tool itself.
  expect(bytesIn(join(project, "node_modules"))).toBeLessThan(4_500_000);

  const served = await aService();
  mkdirSync(join(project, "migrations"));
  writeFileSync(
    join(project, "migrations/0001_documents.ts"),
    `import { createTable, insertRows, int32, utf8 } from "lance-migrate";
export const up = [
  createTable("documents", { id: int32(), title: utf8() }),
  insertRows("documents", [{ id: 1, title: "one" }], { key: "id" }),
];
`,
  );
  writeFileSync(
    join(project, "migrate.config.ts"),
    `export default { targets: { served: { kind: "rest", endpoint: "${served.url}", dialect: "namespace" } } };`,
  );
  const bin = join(project, "node_modules/.bin/lance-migrate");
  const { finished } = startNode([bin, "up", "--quiet"], project, { MIGRATE_API_KEY: apiKey });
  expect(await finished).toMatchObject({ code: 0, stderr: "" });
});

test("the types need no other types, neither those of Node nor those of browsers", () => {
  const project = projectIn("typed");
  cpSync(join(service, "node_modules"), join(project, "node_modules"), { recursive: true });
  writeFileSync(join(project, "tsconfig.json"), strictConfig.replace(`"skipLibCheck":true`, `"skipLibCheck":false`));
  writeFileSync(
    join(project, "used.ts"),
    `import { after, createTable, int32, openMigrator, renameColumn, type Step } from "lance-migrate";
export const first: readonly Step[] = [createTable("documents", { id: int32() })];
export const migrator = await openMigrator({ target: "local" });
declare module "lance-migrate" {
  interface History {
    "0000": null;
    "0001": "0000";
  }
  interface TableNames {
    "0001": { documents: true };
  }
  interface TableHistory {
    documents: { "0001": { id: "int32" } };
  }
}
export const known = after("0001", renameColumn("documents", "id", "key"));
export const unknown = after("0001", renameColumn("documents", "nix", "key"));
`,
  );
  const found = typeProblems(project);
  expect(found.map(({ file, line }) => `${file}:${line}`)).toEqual(["used.ts:17"]);
});

test("an application with the engine gets no second one", () => {
  const project = projectIn("application", { "@lancedb/lancedb": "0.39.0" });
  npm(project, "install", "--package-lock-only", tarball);
  const { packages } = JSON.parse(readFileSync(join(project, "package-lock.json"), "utf8")) as {
    packages: Readonly<Record<string, { readonly dev?: boolean }>>;
  };
  const engines = Object.keys(packages).filter((place) => /(^|\/)node_modules\/@lancedb\/lancedb$/.test(place));
  expect(engines).toEqual(["node_modules/@lancedb/lancedb"]);
});

test("the messages about missing packages name the versions that package.json allows", () => {
  const { peerDependencies, devDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as Record<
    "peerDependencies" | "devDependencies",
    Readonly<Record<string, string>>
  >;
  const major = (range: string) => /\d+/.exec(range)![0];
  // Any version of the API that knows today's SDKs does.
  const { "@lancedb/lancedb": engine, "@opentelemetry/api": _telemetry, ...others } = peerDependencies;
  expect(engine).toBe(">=0.37.1");
  for (const [name, range] of Object.entries(others)) expect([name, devDependencies[name]]).toEqual([name, range]);
  const named = Object.entries(others).map(([name, range]) => `${name}@${major(range)}`);
  expect(named).toEqual(["@fastify/swagger@9", "fastify@5", "ts-morph@28", "workerpool@10"]);
});

test("an engine that is too old is refused when it is installed", () => {
  const project = projectIn("old-application", { "@lancedb/lancedb": "0.33.0" });
  expect(() => npm(project, "install", "--package-lock-only", tarball)).toThrow();
});

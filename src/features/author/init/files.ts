/** The texts of the files that `migrate init` writes. Pure. */
import { textText } from "../../shared/print-source.ts";
import type { PackageManager } from "../../../engine/package/package-manager.ts";

/** Where the tables are: a folder, an object store, or a service. */
export interface TablePlace {
  readonly kind: "lance" | "rest";
  /** Undefined if the environment has the address of the service. */
  readonly uri: string | undefined;
}

/** What `migrate init` is to do. */
export interface InitChoice {
  readonly place: TablePlace;
  /** Write the first migration from the existing tables, or for a new table of this name; undefined for none. */
  readonly first: "pull" | { readonly table: string } | undefined;
  readonly workflow: boolean;
}

/** The address of a service, or the URI of a folder or an object store. */
export function placeAt(uri: string): TablePlace {
  return { kind: /^(https?|db):\/\//i.test(uri) ? "rest" : "lance", uri };
}

/** Whether it is a folder on this machine. */
export function isFolder({ kind, uri }: TablePlace): boolean {
  return kind === "lance" && uri !== undefined && !uri.includes("://");
}

interface ConfigChoice {
  readonly place: TablePlace;
  readonly migrations: string;
  readonly format: string | undefined;
}

export function configText({ place, migrations, format }: ConfigChoice): string {
  const settings = [
    ...(migrations === "migrations" ? [] : [`migrations: ${textText(migrations)},`]),
    "targets: {",
    ...targetLines(place).map((line) => `  ${line}`),
    "},",
    ...(format === undefined ? [] : [`format: ${textText(format)},`]),
  ];
  const lines = settings.map((line) => `  ${line}\n`).join("");
  return `import { defineConfig } from "lance-migrate";\n\nexport default defineConfig({\n${lines}});\n`;
}

function targetLines(place: TablePlace): readonly string[] {
  const { kind, uri } = place;
  if (kind === "lance") return [`${isFolder(place) ? "local" : "store"}: { kind: "lance", uri: ${textText(uri!)} },`];
  return [
    uri === undefined
      ? "// In the environment: MIGRATE_ENDPOINT, MIGRATE_API_KEY and MIGRATE_DATABASE."
      : "// In the environment: MIGRATE_API_KEY and MIGRATE_DATABASE.",
    uri === undefined
      ? 'service: { kind: "rest", dialect: "namespace" },'
      : `service: { kind: "rest", endpoint: ${textText(uri)}, dialect: "namespace" },`,
  ];
}

/** The file with what git must ignore, if it does not ignore that yet. `known`: the text of the file that exists. */
export function gitignoreText(known: string | undefined, wanted: readonly string[]): string | undefined {
  const plain = (line: string) => line.trim().replace(/^\//, "").replace(/\/$/, "");
  const text = known ?? "";
  const lines = new Set(text.split("\n").map(plain));
  const missing = wanted.filter((line) => !lines.has(plain(line)));
  if (missing.length === 0) return undefined;
  const before = text === "" || text.endsWith("\n") ? text : `${text}\n`;
  return `${before}${missing.map((line) => `${line}\n`).join("")}`;
}

export const workflowPath = ".github/workflows/migrate.yml";

interface Workflow {
  readonly manager: PackageManager;
  /** The folder of the project in its repository; empty if it is all of it. */
  readonly place: string;
  /** Whether the tables are in a folder, so that the migrations can run on an empty one. */
  readonly runs: boolean;
}

/** Pinned as in this project's own workflows, which a test compares; those of Bun and Deno are used only here. */
const checkout = "actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1";
const setupNode = "actions/setup-node@820762786026740c76f36085b0efc47a31fe5020 # v7.0.0";
const setupBun = "oven-sh/setup-bun@0c5077e51419868618aeaa5fe8019c62421857d6 # v2.2.0";
const setupDeno = "denoland/setup-deno@667a34cdef165d8d2b2e98dde39547c9daac7282 # v2.0.4";

export function workflowText({ manager, place, runs }: Workflow): string {
  const run = manager.runInCi ?? manager.run;
  const steps = [
    `- uses: ${checkout}`,
    "  with:",
    "    # Migrations are code of the pull request, which must not read the token.",
    "    persist-credentials: false",
    ...setUp(manager, place),
    `- run: ${manager.install}`,
    "# Checks the migration files. This needs no database.",
    `- run: ${run} lint --github`,
    ...(runs ? ["# Runs all migrations on an empty database.", `- run: ${run} up`] : []),
  ];
  const defaults = ["    defaults:", "      run:", `        working-directory: ${JSON.stringify(place)}`];
  return `${[
    "name: migrations",
    "",
    "on:",
    "  push:",
    "    branches: [main, master]",
    "  pull_request:",
    "",
    "permissions:",
    "  contents: read",
    "",
    "jobs:",
    "  check:",
    "    runs-on: ubuntu-latest",
    ...(place === "" ? [] : defaults),
    "    steps:",
    ...steps.map((line) => `      ${line}`),
  ].join("\n")}\n`;
}

function setUp({ name }: PackageManager, place: string): readonly string[] {
  const node = (cache: readonly string[]) => [
    `- uses: ${setupNode}`,
    "  with:",
    '    node-version: "24"',
    ...cache.map((one) => `    cache: ${one}`),
  ];
  switch (name) {
    case "pnpm":
    case "yarn":
      return ["- run: corepack enable", ...node([])];
    case "bun":
      return [`- uses: ${setupBun}`, ...node([])];
    case "deno":
      return [`- uses: ${setupDeno}`];
    default:
      // The action looks for the lock file at the top of the repository, and fails if it is elsewhere.
      return node(place === "" ? ["npm"] : []);
  }
}

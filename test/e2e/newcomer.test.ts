/**
 * What a new user does with the packed package, in an empty folder far from the packages of this repository, with the
 * commands of README and docs/get-started.md. Long runs install the engine once, and try all managers. Otherwise npm is
 * tried, and the engine is a link to the one of this repository, because an installation of it takes 200 MB or more.
 */
import { execFile, execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, test } from "vitest";
import { lacks } from "../support/needs.ts";
import { root, temporaryFolderOfFile } from "../support/project.ts";
import { isLong } from "../support/rounds.ts";
import { installed, quietly } from "../support/stores/install.ts";

const run = promisify(execFile);
const folder = temporaryFolderOfFile();

type Manager = keyof typeof managers;

const quiet = ["--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts"];

interface Managing {
  /** The command that installs packages. */
  readonly add: readonly string[];
  /** What stands before `migrate`. */
  readonly exec: string;
  /** The command that runs the application, if it is not node. */
  readonly node?: readonly string[];
  /** The settings of Yarn 2 or newer. */
  readonly settings?: string;
}

const yarnSettings = (linker: string) =>
  `nodeLinker: ${linker}\nglobalFolder: ${join(folder, "yarn")}\nenableTelemetry: false\n`;

const managers = {
  npm: { add: ["npm", "install", ...quiet], exec: "npx migrate" },
  pnpm: { add: ["pnpm", "add", "--prefer-offline", "--store-dir", join(folder, "store")], exec: "pnpm exec migrate" },
  bun: { add: ["bun", "add"], exec: "bun run migrate", node: ["bun"] },
  yarn1: { add: ["yarn", "add", "--cache-folder", join(folder, "yarn1")], exec: "yarn migrate" },
  yarn4: { add: ["yarn", "add"], exec: "yarn migrate", settings: yarnSettings("node-modules") },
  yarn4pnp: { add: ["yarn", "add"], exec: "yarn migrate", node: ["yarn", "node"], settings: yarnSettings("pnp") },
} satisfies Readonly<Record<string, Managing>>;

const all: readonly { readonly manager: Manager; readonly type: string; readonly isReal?: boolean }[] = [
  { manager: "npm", type: "commonjs" },
  { manager: "pnpm", type: "module" },
  { manager: "bun", type: "commonjs" },
  { manager: "yarn4pnp", type: "module" },
  { manager: "yarn1", type: "module" },
  { manager: "yarn4", type: "commonjs" },
  { manager: "npm", type: "module" },
  { manager: "pnpm", type: "commonjs" },
  { manager: "bun", type: "module" },
  { manager: "npm", type: "commonjs", isReal: true },
  { manager: "pnpm", type: "module", isReal: true },
];

let tarball: string;
/** The folder of the commands pnpm and bun, or the reason why there is none. */
let others: { readonly bin: string } | { readonly problem: string } = { problem: "only npm is tried now" };

beforeAll(async () => {
  const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", folder];
  const [packed] = JSON.parse(execFileSync("npm", args, { cwd: root, encoding: "utf8", stdio: "pipe" })) as [
    { filename: string },
  ];
  tarball = join(folder, packed.filename);
  if (!isLong) return;
  others = await installed("managers-pnpm-12.21.0-bun-1.4.5-yarn-1.22.22-4.18.1", installManagers).then(
    (home) => ({ bin: join(home, "bin") }),
    (error: unknown) => ({ problem: `pnpm, bun and yarn can't be installed: ${String(error)}` }),
  );
});

/** Without their scripts: that of bun puts the executable of this machine into place. */
async function installManagers(home: string): Promise<void> {
  writeFileSync(join(home, "package.json"), "{}");
  await quietly(
    "npm",
    ["install", ...quiet, "pnpm@12.21.0", "bun@1.4.5", "yarn@1.22.22", "@yarnpkg/cli-dist@4.18.1"],
    home,
  );
  const [ofMachine] = readdirSync(join(home, "node_modules/@oven"));
  mkdirSync(join(home, "bin"));
  symlinkSync(`../node_modules/@oven/${ofMachine!}/bin/bun`, join(home, "bin/bun"));
  symlinkSync("../node_modules/pnpm/bin/pnpm.mjs", join(home, "bin/pnpm"));
  chmodSync(join(home, "bin/pnpm"), 0o755);
  // Several managers are called yarn.
  for (const [name, path] of [
    ["yarn1", "yarn"],
    ["yarn4", "@yarnpkg/cli-dist"],
    ["yarn4pnp", "@yarnpkg/cli-dist"],
  ] as const) {
    mkdirSync(join(home, "bin", name));
    symlinkSync(join("../../node_modules", path, "bin/yarn.js"), join(home, "bin", name, "yarn"));
  }
  for (const name of ["bun", "pnpm", "yarn1/yarn", "yarn4/yarn"]) await quietly(join(home, "bin", name), ["--version"]);
}

/** As the page shows it, in the project's own kind of module. */
function application(type: string, code: string): string {
  const load =
    type === "module"
      ? 'import { connect } from "@lancedb/lancedb";'
      : 'const { connect } = require("@lancedb/lancedb");';
  return `${load}
async function main() {
  const db = await connect(".lancedb");
  const documents = await db.openTable("documents");
  ${code}
}
main();
`;
}

const columns = "Object.keys(rows[0]).toSorted().join(), rows.length";
const writes = `await documents.add([{ id: 1, text: "hello", vector: Array(384).fill(0.1) }]);
  console.log(await documents.countRows());`;
const reads = `const rows = await documents.query().toArray();
  console.log(${columns});`;

test.for((isLong ? all : all.slice(0, 1)).map((one) => ({ isReal: false, ...one })))(
  "with $manager in a project of the type $type, the first ten minutes work (engine installed: $isReal)",
  async ({ manager, type, isReal }, { skip }) => {
    if (manager !== "npm" && lacks("managers", "problem" in others ? others.problem : undefined)) skip();
    const project = join(folder, `${manager}-${type}${isReal ? "-real" : ""}`);
    mkdirSync(project);
    writeFileSync(join(project, "package.json"), JSON.stringify({ name: "newcomer", version: "1.0.0", type }));
    const { add, exec, node = ["node"], settings }: Managing = managers[manager];
    if (settings !== undefined) {
      writeFileSync(join(project, ".yarnrc.yml"), settings);
      writeFileSync(join(project, "yarn.lock"), "");
    }
    const kind = type === "module" ? "ts" : "mts";
    const before = performance.now();

    const adding = typed([...add, `lance-migrate@file:${tarball}`, ...(isReal ? ["@lancedb/lancedb@0.39"] : [])]);
    if (isReal && manager === "pnpm") {
      await expect(adding).rejects.toThrow("ERR_PNPM_IGNORED_BUILDS");
      await typed(["pnpm", "approve-builds", "!onnxruntime-node", "!protobufjs", "!sharp"]);
    } else await adding;
    if (manager === "yarn4pnp")
      await typed([...add, `@lancedb/lancedb@link:${join(root, "node_modules/@lancedb/lancedb")}`]);
    else if (!isReal) {
      mkdirSync(join(project, "node_modules/@lancedb"));
      symlinkSync(join(root, "node_modules/@lancedb/lancedb"), join(project, "node_modules/@lancedb/lancedb"));
    }
    const shown = await migrate("init --yes");
    expect(shown).toContain(`wrote migrations/0001_create_documents.${kind}\n`);
    expect(shown).toMatch(new RegExp(`\n {2}${exec} plan .*\n {2}${exec} up `));
    expect(await migrate("up")).toContain("1 migration applied");
    const seconds = ((performance.now() - before) / 1_000).toFixed(1);
    process.stdout.write(
      `${manager}, ${type}, ${isReal ? "with" : "without"} the engine: ${seconds} s from the installation to the first applied migration\n`,
    );

    expect(await applying(writes)).toBe("1\n");
    // What differs between package managers is how they install and start something, and all of that has been done.
    if (!isLong && manager !== "npm") return;
    const steps = "--add-column documents.language:utf8 --rename documents.text:body";
    expect(await migrate(`new add_language ${steps}`)).toContain(`wrote migrations/0002_add_language.${kind}\n`);
    expect(await migrate("plan")).toContain("0002_add_language");
    expect(await migrate("up")).toContain("1 migration applied");
    expect(await applying(reads)).toBe("body,id,language,vector 1\n");
    expect(await migrate("down --yes")).toContain("1 migration rolled back");
    expect(await applying(reads)).toBe("id,text,vector 1\n");
    expect(await migrate("status")).toContain("1 migration applied, 1 pending");

    async function migrate(args: string): Promise<string> {
      return await typed([...exec.split(" "), ...args.split(" ")]);
    }

    async function applying(code: string): Promise<string> {
      writeFileSync(join(project, "app.js"), application(type, code));
      return await typed([...node, "app.js"]);
    }

    async function typed([command, ...args]: readonly string[]): Promise<string> {
      const { PATH, HOME } = process.env;
      const bins = [
        "problem" in others ? [] : [join(others.bin, manager), others.bin],
        join(root, "node_modules/node/bin"),
        PATH,
      ].flat();
      const env = { PATH: bins.join(":"), HOME, NO_COLOR: "1" };
      const { stdout } = await run(command!, args, { cwd: project, env });
      return stdout;
    }
  },
);

/** What each command really prints with --json, with fixed values in place of those that differ from run to run. */
import { execFileSync } from "node:child_process";
import { connect } from "@lancedb/lancedb";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { runShared } from "../../test/support/shared-process.ts";
import { Project as Files } from "../screenshots/project.ts";

export interface Example {
  readonly args: string;
  /** The lines, parsed. */
  readonly printed: readonly unknown[];
}

type Run = (name: string, args: string, code?: number) => Promise<void>;

/** A project whose commands run in a process that others have run in, which saves most of what they cost. */
class Project extends Files {
  private edition = 0;

  override write(path: string, text: string): void {
    // The command itself reads an edited migration again, but any other module once.
    if (!path.startsWith("migrations/") && existsSync(join(this.folder, path))) this.edition++;
    super.write(path, text);
  }

  /** Gives what the command prints on stdout. Fails if it exits with another code. */
  async run(args: string, expected = 0): Promise<string> {
    const { folder, edition } = this;
    const { code, stdout, stderr } = await runShared({ folder, args: args.split(" "), env: {}, edition });
    if (code !== expected) throw new Error(`migrate ${args} exited with ${code}: ${stderr}`);
    return stdout;
  }
}

const columns = "id: m.int64().notNull(), title: m.utf8(), embedding: m.vector(2)";
const plain = "id: m.int64().notNull(), title: m.utf8()";
const createDocuments = `m.createTable("documents", { ${columns} })`;
const renameTitle = `m.renameColumn("documents", "title", "headline")`;

export async function examples(): Promise<Readonly<Record<string, readonly Example[]>>> {
  const found = {} as Record<string, Example[]>;
  const inProject = async (work: (project: Project, run: Run) => Promise<void>) => {
    const project = new Project();
    try {
      await work(project, async (name, args, code) => {
        const lines = (await project.run(`${args} --json`, code)).trimEnd().split("\n");
        const printed = lines.map((line) => steady(JSON.parse(line), "", project.folder)).filter(isSteady);
        (found[name] ??= []).push({ args, printed });
      });
    } finally {
      project.remove();
    }
  };
  await inProject(newProject);
  await inProject(firstSteps);
  await inProject(schemaFirst);
  await inProject(manyDatabases);
  await inProject(existing);
  await inProject(onABranch);
  await inProject(newModel);
  return found;
}

async function firstSteps(project: Project, run: Run): Promise<void> {
  await run("error", "up --to 9", 2);
  project.migration("0001_documents", createDocuments);
  await run("lint", "lint");
  await run("up", "up");
  await addRow(project);
  await run("new", "new headlines --rename documents.title:headline");
  await run("plan", "plan");
  await run("rehearse", "rehearse");
  await run("status", "status");
  await run("history", "history");
  await run("blame", "blame documents.headline");
  await run("report", "report");
  await project.run("up");
  await run("down", "down");
  await run("verify", "verify");
  await run("verify", "verify --ledger");
  await run("resolve", "resolve --adopted 1", 4);
  await run("repair", "repair");
  await run("prune", "prune");
  await run("types", "types");
  await run("contract", "contract --application search --release 1.4.0");
  await run("build", "build");
  await run("doctor", "doctor");
  await run("serve", "serve --data .lancedb --port 0 --api-key 0123456789abcdefghij --timeout 2");
  await run("completion", "completion fish");
}

async function newProject(_: Project, run: Run): Promise<void> {
  await run("init", "init --yes");
}

async function schemaFirst(project: Project, run: Run): Promise<void> {
  project.migration("0001_documents", `m.createTable("documents", { ${plain} })`);
  await run("pull", "pull --schema");
  project.write("schema.ts", declared(`title: m.utf8(), words: m.int32()`));
  await run("generate", "generate --check", 3);
  await run("generate", "generate");
  await project.run("up");
  project.write("migrate.config.ts", config(`kind: "lance", uri: ".lancedb", push: true`));
  project.write("schema.ts", declared(`title: m.utf8(), words: m.int32(), language: m.utf8()`));
  await run("push", "push --dry-run");
}

const declared = (columns: string) =>
  `import * as m from "lance-migrate";\n\nexport default m.defineSchema({ documents: { id: m.int64().notNull(), ${columns} } });\n`;
const config = (settings: string) => `export default { targets: { here: { ${settings} } } };\n`;

async function manyDatabases(project: Project, run: Run): Promise<void> {
  project.write("migrate.config.ts", config(`kind: "lance", uri: "data/{database}", databases: ["acme"]`));
  project.migration("0001_documents", createDocuments);
  await run("up", "up");
  await run("status", "status");
}

async function existing(project: Project, run: Run): Promise<void> {
  const database = await connect(join(project.folder, ".lancedb"));
  await database.createTable("documents", [{ id: 1, title: "One" }]);
  await run("pull", "pull");
  await run("baseline", "baseline");
}

const author = "-c user.name=Ada -c user.email=ada@example.com";

async function onABranch(project: Project, run: Run): Promise<void> {
  project.migration("0001_documents", createDocuments);
  const git = (args: string) => execFileSync("git", args.split(" "), { cwd: project.folder, stdio: "pipe" });
  const commit = () => (git("add migrations"), git(`${author} commit -qm change`));
  git("init -qb main");
  commit();
  git("checkout -qb feature");
  project.migration("0002_headlines", renameTitle);
  commit();
  git("checkout -q main");
  project.migration("0002_authors", `m.createTable("authors", { id: m.int64() })`);
  commit();
  git("checkout -q feature");
  git(`${author} merge -q --no-edit main`);
  await run("rebase", "rebase");
  await run("squash", "squash --to 3 --dry-run");
}

async function newModel(project: Project, run: Run): Promise<void> {
  project.migration("0001_documents", createDocuments);
  await project.run("up");
  await addRow(project);
  project.write("embed.ts", "export default async (rows) => rows.map(() => [1, 2, 3]);\n");
  const options = `type: m.vector(3), from: ["title"], key: "id", with: "./embed.ts", version: "2"`;
  project.migration("0002_new_model", `m.reembedColumn("documents", "embedding", { ${options} })`);
  await run("prepare", "prepare");
}

async function addRow({ folder }: Project): Promise<void> {
  const table = await (await connect(join(folder, ".lancedb"))).openTable("documents");
  await table.add([{ id: 1n, title: "One", embedding: [0, 1] }]);
}

/** Values that differ from run to run, by the names of members. */
const usual: Readonly<Record<string, unknown>> = {
  at: "2026-11-20T09:30:00.000Z",
  madeAt: "2026-11-26T10:00:00.000Z",
  began: "2026-11-20T09:30:00.000Z",
  ended: "2026-11-20T09:30:00.012Z",
  milliseconds: 12,
  by: "ada@laptop (process 4711)",
  run: "3f0c8a52-6a1b-4d0e-9d55-0f6f1a2b7c3d",
  port: 2333,
  url: "http://127.0.0.1:2333",
  duration: 12,
  up: 12,
  down: 8,
  again: 12,
};
const mostItems = 3;
const mostCharacters = 200;

/** The value without what differs from run to run. Long lists and texts are cut. */
function steady(value: unknown, name: string, folder: string): unknown {
  if (typeof value === "object" && value !== null) {
    const kept = Array.isArray(value) ? value.slice(0, mostItems) : value;
    const entries = Object.entries(kept).map(([key, one]) => [key, steady(one, key, folder)] as const);
    return Array.isArray(value) ? entries.map(([, one]) => one) : Object.fromEntries(entries);
  }
  // Milliseconds since 1970.
  if (typeof value === "number" && value > 1e12) return 1795000000000;
  if (Object.hasOwn(usual, name)) return usual[name];
  if (typeof value !== "string") return value;
  const text = value.replaceAll(folder, "/app").replaceAll(/\b([0-9a-f]{6})[0-9a-f]{58}\b/g, "$1…");
  const shown = name === "applied" || name === "previous" ? text.replace(/^[0-9a-f]{6}…$/, "c0ffee…") : text;
  return shown.length > mostCharacters ? `${shown.slice(0, mostCharacters)} …` : shown;
}

/** How often a run reports that it is still at work depends on the machine. */
function isSteady(printed: unknown): boolean {
  return (printed as { readonly event?: string }).event !== "running";
}

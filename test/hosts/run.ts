/**
 * npm run check hosts [-- TEXT …]: how the package works in other programs, such as bundlers and test runners. Installs them
 * into the system's folder for temporary files, and compares the outcome with docs/reference/hosts.md, of which it tries the
 * hosts whose names contain one of the texts. `--write` writes the page. With FOLDER=…, it keeps what it installs there.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { hosts, nodes, packages, works, type Host, type Work } from "./hosts.ts";
import { buildMigrations, tryHost, writeProject } from "./try-host.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const page = join(root, "docs/reference/hosts.md");
const isWriting = process.argv.includes("--write");
const wanted = process.argv.slice(2).filter((one) => !one.startsWith("--"));

const kept = process.env["FOLDER"];
const folder = kept ?? mkdtempSync(join(tmpdir(), "lance-migrate-hosts-"));
try {
  install();
  writeProject(folder);
  buildMigrations(folder);
  const rows = hosts.filter(({ name }) => wanted.length === 0 || wanted.some((text) => name.includes(text))).map(rowOf);
  const text = pageOf(rows);
  if (isWriting && wanted.length === 0) writeFileSync(page, text);
  const known = new Set(readFileSync(page, "utf8").split("\n"));
  const others = rows.filter((row) => !known.has(row));
  for (const row of others) process.stderr.write(`not in ${page}: ${row}\n`);
  process.exitCode = others.length === 0 ? 0 : 1;
} finally {
  if (kept === undefined) rmSync(folder, { recursive: true, force: true });
}

function install(): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), `{ "private": true, "type": "module" }`);
  const npm = (...args: readonly string[]) =>
    execFileSync("npm", args, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
  const [packed] = JSON.parse(npm("pack", "--json", "--ignore-scripts", root)) as { readonly filename: string }[];
  if (existsSync(join(folder, "node_modules/.package-lock.json")))
    rmSync(join(folder, "node_modules/lance-migrate"), { recursive: true, force: true });
  const ofNode = nodes.map((version) => `${nodeNamed(version)}@npm:node-${platform()}@${version}`);
  const ofHosts = Object.entries(packages).map(([name, version]) => `${name}@${version}`);
  npm("install", "--no-audit", "--no-fund", "--no-save", `./${packed!.filename}`, ...ofNode, ...ofHosts);
}

/** As in the names of the packages that hold the program of Node. */
function platform(): string {
  return `${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;
}

function nodeNamed(version: string): string {
  return `node-${version.split(".")[0]}`;
}

/** A row of the table. */
function rowOf(host: Host): string {
  const { name, works: tried = ["program"] } = host;
  const cells = works.map((work) => (tried.includes(work) ? cellOf(host, work) : "–"));
  const row = `| ${[name, ...cells].join(" | ")} |`;
  process.stdout.write(`${row}\n`);
  return row;
}

/** The outcome, or those of the versions of Node if they differ. */
function cellOf(host: Host, work: Work): string {
  const inNode = (version: string) => {
    const isWindows = process.platform === "win32";
    return join(folder, "node_modules", nodeNamed(version), isWindows ? "node.exe" : "bin/node");
  };
  const isNode = !/^(Bun|Deno)/.test(host.name);
  const outcomes = (isNode ? nodes : nodes.slice(1, 2)).map((version) => {
    const outcome = tryHost(folder, host, work, inNode(version)).replaceAll("|", "\\|").replaceAll("\n", " ");
    return { version: version.split(".")[0]!, outcome };
  });
  const [first] = outcomes;
  if (outcomes.every(({ outcome }) => outcome === first!.outcome)) return first!.outcome;
  return outcomes.map(({ version, outcome }) => `${version}: ${outcome}`).join("<br>");
}

function pageOf(rows: readonly string[]): string {
  const versions = Object.entries(packages).map(([name, version]) => `${name} ${version}`);
  return [
    "# Where it runs",
    "",
    "`npm run check hosts -- --write` made this page. *program* applies migrations in TypeScript and JavaScript by " +
      "[createMigrator](../program.md), hears of it, is stopped by a signal, learns of an error, and rolls back; *testing* " +
      "gets databases from [lance-migrate/testing](../testing.md). Where the package is inside the bundle, only the engine is " +
      "installed, and the migrations are in [a file of `migrate build`](../cli.md#without-migration-files).",
    "",
    `Node ${nodes.join(", ")}; ${versions.join(", ")}. A cell that does not name a version of Node is about all of them.`,
    "",
    "| host | `migrate up` | program | testing |",
    "|---|---|---|---|",
    ...rows,
    "",
  ].join("\n");
}

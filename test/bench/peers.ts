/**
 * `migrate up` beside the JavaScript tools that run SQL migrations: 1,000 migrations of 20 tables, all pending on an empty
 * database, and nothing pending. Whole processes, interleaved. Installs the others into a temporary folder.
 * `npm run bench peers [-- --rounds N --migrations N]`.
 *
 * The others write to SQLite: knex and umzug by Node's own module, which needs no native package, drizzle by libsql.
 * `migrate up` writes Lance tables in a folder, or sends requests to the service of databases-service.ts.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { request } from "undici";
import { median, timeOf } from "./measure.ts";
import { bin, optionsOf, startFastService, temporaryFolder, writeProject } from "./project.ts";

const values = optionsOf({ rounds: "15", migrations: "1000" });
const [rounds, migrations] = [Number(values.rounds), Number(values.migrations)];
const tables = 20;
const work = temporaryFolder();
const peers = ["umzug@3.8.3", "knex@3.3.0", "drizzle-orm@0.45.4", "@libsql/client@0.18.0"];

interface Case {
  readonly name: string;
  readonly folder: string;
  readonly args: readonly string[];
  /** Makes the database empty again. */
  readonly reset: () => void | Promise<void>;
  readonly pending: number[];
  readonly nothing: number[];
}

const endpoint = await startFastService(0);
installPeers();
await measure([ours(), ours(endpoint), umzug(), knex(), drizzle()]);

async function measure(cases: readonly Case[]): Promise<void> {
  const node: number[] = [];
  const pendingRounds = Math.max(1, Math.floor(rounds / 5));
  for (let round = 0; round < pendingRounds; round++)
    for (const { args, folder, reset, pending } of cases) {
      await reset();
      pending.push(timeOf(args, folder));
    }
  for (let round = -1; round < rounds; round++) {
    const base = timeOf(["-e", "0"], work);
    const walls = cases.map(({ args, folder }) => timeOf(args, folder));
    if (round < 0) continue; // a first round warms the page cache
    node.push(base);
    for (const [index, wall] of walls.entries()) cases[index]!.nothing.push(wall);
  }
  console.log(
    `${migrations} migrations of ${tables} tables, ${pendingRounds} and ${rounds} interleaved rounds, Node ${process.versions.node}`,
  );
  console.log(`${"".padEnd(28)}${"all pending, ms".padStart(18)}${"nothing pending, ms".padStart(22)}`);
  console.log(`${"node -e 0".padEnd(28)}${"".padStart(18)}${median(node).toFixed(0).padStart(22)}`);
  for (const { name, pending, nothing } of cases)
    console.log(
      `${name.padEnd(28)}${median(pending).toFixed(0).padStart(18)}${median(nothing).toFixed(0).padStart(22)}`,
    );
}

/** The nth change creates a table, or renames its column. */
function changeOf(index: number): { readonly table: string; readonly from: string | undefined; readonly to: string } {
  const change = Math.floor(index / tables);
  return { table: `t${index % tables}`, from: change === 0 ? undefined : `c${change - 1}`, to: `c${change}` };
}

function aFolder(name: string, textOf: (index: number) => string, extension: string): string {
  const folder = join(work, name);
  mkdirSync(join(folder, "migrations"), { recursive: true });
  for (let index = 0; index < migrations; index++)
    writeFileSync(join(folder, "migrations", `${tag(index)}.${extension}`), textOf(index));
  return folder;
}

function tag(index: number): string {
  return `${String(index + 1).padStart(Math.max(4, String(migrations).length), "0")}_change`;
}

function sqlOf(index: number): string {
  const { table, from, to } = changeOf(index);
  return from === undefined
    ? `CREATE TABLE ${table} (id INTEGER, ${to} TEXT)`
    : `ALTER TABLE ${table} RENAME COLUMN ${from} TO ${to}`;
}

function ours(endpoint?: string): Case {
  const name = endpoint === undefined ? "folder" : "service";
  const folder = join(work, name);
  const steps = Array.from({ length: migrations }, (_, index) => {
    const { table, from, to } = changeOf(index);
    return from === undefined
      ? `m.createTable("${table}", { id: m.int64(), ${to}: m.utf8() })`
      : `m.renameColumn("${table}", "${from}", "${to}")`;
  });
  writeProject(folder, { steps, ...(endpoint && { target: { kind: "rest", endpoint, apiKey: "key" } }) });
  const reset =
    endpoint === undefined
      ? () => rmSync(join(folder, ".lancedb"), { recursive: true, force: true })
      : async () => await (await request(`${endpoint}/reset`, { method: "POST" })).body.dump();
  return aCase(`migrate up, ${name}`, folder, [bin, "up", "--quiet"], reset);
}

function aCase(name: string, folder: string, args: readonly string[], reset: Case["reset"]): Case {
  return { name, folder, args, reset, pending: [], nothing: [] };
}

function withoutFiles(folder: string, ...names: readonly string[]): () => void {
  return () => {
    for (const name of names) rmSync(join(folder, name), { force: true });
  };
}

function umzug(): Case {
  const folder = aFolder(
    "umzug",
    (index) => `exports.up = async ({ context }) => context.exec(${JSON.stringify(sqlOf(index))});\n`,
    "cjs",
  );
  writeFileSync(
    join(folder, "up.mjs"),
    `import { DatabaseSync } from "node:sqlite";
import { JSONStorage, Umzug } from "umzug";
const umzug = new Umzug({
  migrations: { glob: "migrations/*.cjs" },
  context: new DatabaseSync("data.db"),
  storage: new JSONStorage({ path: "applied.json" }),
  logger: undefined,
});
await umzug.up();
`,
  );
  return aCase("umzug 3.8.3, JSON storage", folder, ["up.mjs"], withoutFiles(folder, "data.db", "applied.json"));
}

function knex(): Case {
  const folder = aFolder(
    "knex",
    (index) => `exports.up = (knex) => knex.raw(${JSON.stringify(sqlOf(index))});\nexports.down = async () => {};\n`,
    "cjs",
  );
  writeFileSync(
    join(folder, "knexfile.cjs"),
    `module.exports = { client: "sqlite3", connection: { filename: "data.db" }, useNullAsDefault: true, migrations: { loadExtensions: [".cjs"] } };\n`,
  );
  const cli = join(work, "node_modules/knex/bin/cli.js");
  return aCase(
    "knex 3.3.0",
    folder,
    [cli, "--knexfile", "knexfile.cjs", "migrate:latest"],
    withoutFiles(folder, "data.db"),
  );
}

function drizzle(): Case {
  const folder = aFolder("drizzle", sqlOf, "sql");
  mkdirSync(join(folder, "migrations/meta"));
  const entries = Array.from({ length: migrations }, (_, idx) => ({
    idx,
    version: "6",
    when: 1_700_000_000_000 + idx,
    tag: tag(idx),
    breakpoints: true,
  }));
  writeFileSync(
    join(folder, "migrations/meta/_journal.json"),
    JSON.stringify({ version: "7", dialect: "sqlite", entries }),
  );
  writeFileSync(
    join(folder, "up.mjs"),
    `import { drizzle } from "drizzle-orm/libsql";
import { migrate } from "drizzle-orm/libsql/migrator";
await migrate(drizzle("file:data.db"), { migrationsFolder: "migrations" });
process.exit();
`,
  );
  return aCase("drizzle-orm 0.45.4", folder, ["up.mjs"], withoutFiles(folder, "data.db"));
}

/** For knex also a module of the name sqlite3, on Node's own. It is synchronous, which is faster than the real one. */
function installPeers(): void {
  writeFileSync(join(work, "package.json"), '{ "type": "module", "private": true }\n');
  const flags = ["--no-audit", "--no-fund", "--ignore-scripts", "--legacy-peer-deps"];
  const { status, stderr } = spawnSync("npm", ["install", ...flags, ...peers], { cwd: work, encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  const shim = join(work, "node_modules/sqlite3");
  mkdirSync(shim, { recursive: true });
  writeFileSync(join(shim, "package.json"), '{ "name": "sqlite3", "version": "5.1.7", "main": "index.js" }\n');
  writeFileSync(
    join(shim, "index.js"),
    `const { DatabaseSync } = require("node:sqlite");
const bound = (values = []) => values.map((one) => (one instanceof Date ? one.getTime() : one));
exports.OPEN_READWRITE = 2;
exports.OPEN_CREATE = 4;
exports.Database = class {
  constructor(file, flags, done) {
    this.db = new DatabaseSync(file);
    process.nextTick(done ?? flags, null);
  }
  run(sql, values, done) {
    try {
      const { changes, lastInsertRowid } = this.db.prepare(sql).run(...bound(values));
      done.call({ changes, lastID: lastInsertRowid }, null);
    } catch (error) { done(error); }
  }
  all(sql, values, done) {
    try { done(null, this.db.prepare(sql).all(...bound(values))); } catch (error) { done(error); }
  }
  close(done) {
    this.db.close();
    done(null);
  }
};
`,
  );
}

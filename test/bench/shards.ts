/**
 * How much faster `migrate prepare` is as 4 shards, which run as processes of their own, with code that waits 50 ms for
 * each call as for a service. The code keeps a log, which must have each row once.
 * `npm run bench:shards [-- --rows N --shards N --rounds N]`. Ends with 1 if a row was computed twice or not at all.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { median } from "./measure.ts";

const { connect } = createRequire(import.meta.url)("@lancedb/lancedb") as typeof import("@lancedb/lancedb");

const { values } = parseArgs({
  options: {
    rows: { type: "string", default: "32000" },
    shards: { type: "string", default: "4" },
    rounds: { type: "string", default: "1" },
  },
});
const [rows, shards] = [Number(values.rows), Number(values.shards)];
const root = fileURLToPath(new URL("../..", import.meta.url));
const dimensions = 32;

const code = `import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

export default async function embed(rows) {
  await sleep(50);
  appendFileSync("computed.txt", rows.map(({ text }) => text + "\\n").join(""));
  return rows.map(({ text }) => Array.from({ length: ${dimensions} }, (_, at) => (text.length + at) % 7));
}
`;

const times = { one: [] as number[], several: [] as number[] };
for (let round = 0; round < Number(values.rounds); round++) {
  times.one.push(await prepare([["prepare"]]));
  times.several.push(
    await prepare(Array.from({ length: shards }, (_, at) => ["prepare", "--shard", `${at + 1}/${shards}`])),
  );
}
const [one, several] = [median(times.one), median(times.several)];
console.log(`median of ${values.rounds}: 1 process ${words(one)}, ${shards} shards ${words(several)}`);
console.log(`${(one / several).toFixed(2)} times the rows a second`);

/** The seconds that these commands take, which all run at once on a new table; then \`prepare\` and \`up\` complete it. */
async function prepare(commands: readonly (readonly string[])[]): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "lance-migrate-bench-"));
  try {
    writeProject(folder);
    await migrate(folder, ["up", "--to", "1"]);
    await addRows(folder);
    const started = performance.now();
    await Promise.all(commands.map((args) => migrate(folder, args)));
    const seconds = (performance.now() - started) / 1_000;
    await migrate(folder, ["up"]);
    checkLog(folder);
    console.log(`${commands.length} × prepare: ${words(seconds)}`);
    return seconds;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function writeProject(folder: string): void {
  mkdirSync(join(folder, "migrations"));
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(root, join(folder, "node_modules/lance-migrate"));
  writeFileSync(join(folder, "package.json"), `{ "type": "module" }`);
  writeFileSync(join(folder, "embed.js"), code);
  const options = `from: ["text"], key: "id", with: "./embed.js", version: "2", batch: 16, concurrency: 1`;
  const steps = [
    `m.createTable("docs", { id: m.int64().notNull(), text: m.utf8(), embedding: m.vector(16) })`,
    `m.reembedColumn("docs", "embedding", { type: m.vector(${dimensions}), ${options} })`,
  ];
  for (const [at, step] of steps.entries())
    writeFileSync(
      join(folder, `migrations/000${at + 1}_step.ts`),
      `import * as m from "lance-migrate";\nexport const up = [${step}];\n`,
    );
}

async function addRows(folder: string): Promise<void> {
  const table = await (await connect(join(folder, ".lancedb"))).openTable("docs");
  await table.add(Array.from({ length: rows }, (_, id) => ({ id, text: `document ${id}` })));
  table.close();
}

async function migrate(folder: string, args: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, [join(root, "dist/bin.js"), ...args, "--quiet"], {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
  });
  const [exit] = (await once(child, "exit")) as [number | null];
  if (exit !== 0) throw new Error(`migrate ${args.join(" ")}: exit ${exit}`);
}

function checkLog(folder: string): void {
  const computed = readFileSync(join(folder, "computed.txt"), "utf8").trim().split("\n");
  const different = new Set(computed).size;
  if (computed.length === rows && different === rows) return;
  console.log(`${computed.length} rows computed, ${different} of ${rows} different ones`);
  process.exitCode = 1;
}

function words(seconds: number): string {
  return `${seconds.toFixed(1)} s (${(rows / seconds).toFixed(0)} rows a second)`;
}

/**
 * How much faster `migrate prepare` is as 4 shards, which run as processes of their own, with code that waits 50 ms for
 * each call as for a service. The code keeps a log, which must have each row once. With `--python FILE`, a Python that has
 * the package ray, also on a Ray cluster that is started on this machine. Prints the rows a second of the whole command,
 * and of the time in which all shards compute.
 * `npm run bench shards [-- --rows N --shards N --rounds N --python FILE]`. Ends with 1 if a row was computed twice or
 * not at all.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { median } from "./measure.ts";
import { lancedb, migrate, optionsOf, temporaryFolder, writeProject } from "./project.ts";

const values = optionsOf({ rows: "32000", shards: "4", rounds: "1", python: "" });
const [rows, shards] = [Number(values.rows), Number(values.shards)];
const work = temporaryFolder();
const dimensions = 32;

const code = `import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

export default async function embed(rows) {
  await sleep(50);
  appendFileSync("computed.txt", rows.map(({ text }) => [text, Date.now(), process.pid].join("\\t") + "\\n").join(""));
  return rows.map(({ text }) => Array.from({ length: ${dimensions} }, (_, at) => (text.length + at) % 7));
}
`;

/** Rows a second. */
interface Rates {
  readonly whole: number;
  readonly together: number;
}

const ways: Readonly<Record<string, readonly (readonly string[])[]>> = {
  "1 process": [["prepare"]],
  [`${shards} processes`]: Array.from({ length: shards }, (_, at) => ["prepare", "--shard", `${at + 1}/${shards}`]),
  ...(values.python === ""
    ? {}
    : {
        [`${shards} shards on Ray`]: [["prepare", "--on", "ray", "--shards", `${shards}`, "--python", values.python]],
      }),
};
// A cluster of its own.
process.env["RAY_ADDRESS"] ??= "local";
const times = Object.keys(ways).map((name) => ({ name, rounds: [] as Rates[] }));
for (let round = 0; round < Number(values.rounds); round++)
  for (const { name, rounds } of times) {
    const took = await prepare(ways[name]!);
    console.log(`${name}: ${words(took)}`);
    rounds.push(took);
  }
const medians = times.map(({ name, rounds }) => {
  const of = (part: keyof Rates) => median(rounds.map((one) => one[part]));
  return { name, whole: of("whole"), together: of("together") };
});
const [one, ...others] = medians as [Rates, ...typeof medians];
for (const { name, whole, together } of others)
  console.log(
    `${name}: ${(whole / one.whole).toFixed(2)} times the rows a second of the whole command, ` +
      `${(together / one.together).toFixed(2)} times while all compute (medians of ${values.rounds})`,
  );

/** The rate of these commands, which all run at once on a new table; then `up` completes it. */
async function prepare(commands: readonly (readonly string[])[]): Promise<Rates> {
  const folder = mkdtempSync(join(work, "project-"));
  const options = `from: ["text"], key: "id", with: "./embed.js", version: "2", batch: 16, concurrency: 1`;
  const steps = [
    `m.createTable("docs", { id: m.int64().notNull(), text: m.utf8(), embedding: m.vector(16) })`,
    `m.reembedColumn("docs", "embedding", { type: m.vector(${dimensions}), ${options} })`,
  ];
  writeProject(folder, { steps, files: { "embed.js": code } });
  await migrate(folder, ["up", "--to", "1"]);
  await addRows(folder);
  const started = performance.now();
  await Promise.all(commands.map((args) => migrate(folder, args)));
  const whole = (performance.now() - started) / 1_000;
  await migrate(folder, ["up"]);
  const together = checkLog(folder);
  rmSync(folder, { recursive: true });
  return { whole: rows / whole, together };
}

async function addRows(folder: string): Promise<void> {
  const table = await (await lancedb.connect(join(folder, ".lancedb"))).openTable("docs");
  await table.add(Array.from({ length: rows }, (_, id) => ({ id, text: `document ${id}` })));
  table.close();
}

/** The rows a second while all processes compute. Reports rows that were computed twice or not at all. */
function checkLog(folder: string): number {
  const lines = readFileSync(join(folder, "computed.txt"), "utf8").trim().split("\n");
  const log = lines.map((line) => {
    const [text, time, process] = line.split("\t") as [string, string, string];
    return { text, time: Number(time), process };
  });
  const different = new Set(log.map(({ text }) => text)).size;
  if (log.length !== rows || different !== rows) {
    console.log(`${log.length} rows computed, ${different} of ${rows} different ones`);
    process.exitCode = 1;
  }
  const calls = [...Map.groupBy(log, ({ process }) => process).values()].map((part) => part.map(({ time }) => time));
  const [from, to] = [Math.max(...calls.map((times) => times[0]!)), Math.min(...calls.map((times) => times.at(-1)!))];
  return log.filter(({ time }) => time > from && time <= to).length / ((to - from) / 1_000);
}

function words({ whole, together }: Rates): string {
  return `${whole.toFixed(0)} rows a second of the whole command, ${together.toFixed(0)} while all compute`;
}

/**
 * `migrate up` on many databases of one service, against a bare client that sends the same requests with the same
 * concurrency. Each answer of the service takes `--latency` milliseconds, as if it had to reach it and commit something.
 * `npm run bench databases [-- --databases N --migrations N --concurrency N --latency N --rounds N]`.
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Agent, request } from "undici";
import type { SentRequest } from "./databases-service.ts";
import { measureSuccess, median } from "./measure.ts";
import { bin, optionsOf, startFastService, temporaryFolder, writeMigration, writeProject } from "./project.ts";

const values = optionsOf({
  databases: "1000",
  migrations: "20",
  concurrency: "8",
  latency: "10",
  rounds: "3",
  /** Set in the process of the bare client. */
  replay: "",
});
const count = Number(values.databases);

if (values.replay === "") await compare();
else await replay(values.replay);

/** Sends the requests that one database got to all of them. */
async function replay(endpoint: string): Promise<void> {
  const dispatcher = new Agent();
  const sent = (await (await request(`${endpoint}/first`)).body.json()) as readonly SentRequest[];
  const bodies = sent.map(({ body }) => (body === "" ? null : Buffer.from(body, "base64")));
  await (await request(`${endpoint}/reset`, { method: "POST" })).body.dump();
  let next = 0;
  const worker = async () => {
    for (let database = next++; database < count; database = next++)
      for (const [at, { method, path, type }] of sent.entries()) {
        const headers = { "content-type": type, "x-api-key": "a-key", "x-service-database": `d${database}` };
        const answer = await request(`${endpoint}${path}`, {
          method: method as "GET",
          headers,
          body: bodies[at]!,
          dispatcher,
        });
        await answer.body.text();
      }
  };
  await Promise.all(Array.from({ length: Number(values.concurrency) }, worker));
  process.stdout.write(String(sent.length));
  process.exit();
}

async function compare(): Promise<void> {
  const work = join(temporaryFolder(), "project");
  const endpoint = await startFastService(Number(values.latency));
  write(work, endpoint);
  const up = [bin, "up", "--concurrency", values.concurrency];
  const bare = [fileURLToPath(import.meta.url), ...process.argv.slice(2), "--replay", endpoint];
  const seconds = { up: [] as number[], again: [] as number[], bare: [] as number[] };
  let peak = 0;
  let requests = 0;
  for (let round = 0; round < Number(values.rounds); round++) {
    await (await request(`${endpoint}/reset`, { method: "POST" })).body.dump();
    const [applied, again, replayed] = [up, up, bare].map((args) => measureSuccess(args, work));
    seconds.up.push(applied!.wall / 1_000);
    seconds.again.push(again!.wall / 1_000);
    seconds.bare.push(replayed!.wall / 1_000);
    peak = Math.max(peak, applied!.peak);
    requests = Number(replayed!.stdout);
  }
  const line = (what: string, value: string) => console.log(`${what.padEnd(44)}${value.padStart(10)}`);
  console.log(
    `${count} databases, ${values.migrations} migrations each, ${values.concurrency} at a time, ${values.latency} ms for each answer, ${values.rounds} interleaved rounds, Node ${process.versions.node}`,
  );
  line("requests for each database", String(requests));
  line("migrate up", `${median(seconds.up).toFixed(2)} s`);
  line("bare client, the same requests", `${median(seconds.bare).toFixed(2)} s`);
  line("throughput, migrate up / bare client", (median(seconds.bare) / median(seconds.up)).toFixed(2));
  line("migrate up, nothing pending", `${median(seconds.again).toFixed(2)} s`);
  line("peak memory of migrate up", `${peak.toFixed(0)} MB`);
}

/** Each migration makes one call: it creates the table, or renames a column. */
function write(work: string, endpoint: string): void {
  const target = { kind: "rest", endpoint, apiKey: "a-key" };
  const config =
    `const databases = () => Array.from({ length: ${count} }, (_, at) => "d" + at);\n` +
    `export default { targets: { all: { ...${JSON.stringify(target)}, databases } } };\n`;
  writeProject(work, { files: { "migrate.config.ts": config } });
  for (let version = 1; version <= Number(values.migrations); version++) {
    const step =
      version === 1 ? `m.createTable("t", { c1: m.utf8() })` : `m.renameColumn("t", "c${version - 1}", "c${version}")`;
    writeMigration(work, version, step, "js");
  }
}

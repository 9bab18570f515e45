/**
 * `migrate up` on many databases of one service, against a bare client that sends the same requests with the same
 * concurrency. Each answer of the service takes `--latency` milliseconds, as if it had to reach it and commit something.
 * `npm run bench databases [-- --databases N --migrations N --concurrency N --latency N --rounds N]`.
 */
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Agent, request } from "undici";
import type { SentRequest } from "./databases-service.ts";

const { values } = parseArgs({
  options: {
    databases: { type: "string", default: "1000" },
    migrations: { type: "string", default: "20" },
    concurrency: { type: "string", default: "8" },
    latency: { type: "string", default: "10" },
    rounds: { type: "string", default: "3" },
    /** Set in the process of the bare client. */
    replay: { type: "string" },
  },
});
const script = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const count = Number(values.databases);
const root = fileURLToPath(new URL("../..", import.meta.url));

if (values.replay === undefined) await compare();
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
  const work = mkdtempSync(join(tmpdir(), "lance-migrate-bench-"));
  const service = spawn(process.execPath, [script("databases-service.ts"), values.latency], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const port = await new Promise<string>((found) => {
      service.stdout.once("data", (line: Buffer) => found(line.toString("utf8").trim()));
    });
    const endpoint = `http://127.0.0.1:${port}`;
    writeProject(work, endpoint);
    const up = [join(root, "dist/bin.js"), "up", "--concurrency", values.concurrency];
    const bare = [fileURLToPath(import.meta.url), ...process.argv.slice(2), "--replay", endpoint];
    const seconds = { up: [] as number[], again: [] as number[], bare: [] as number[] };
    let peak = 0;
    let requests = 0;
    for (let round = 0; round < Number(values.rounds); round++) {
      await (await request(`${endpoint}/reset`, { method: "POST" })).body.dump();
      const applied = run(up, work);
      const again = run(up, work);
      const replayed = run(bare, work);
      seconds.up.push(applied.seconds);
      seconds.again.push(again.seconds);
      seconds.bare.push(replayed.seconds);
      peak = Math.max(peak, applied.peak);
      requests = Number(replayed.stdout);
    }
    const median = (all: readonly number[]) => all.toSorted((one, other) => one - other)[Math.floor(all.length / 2)]!;
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
  } finally {
    service.kill();
    rmSync(work, { recursive: true, force: true });
  }
}

function run(args: readonly string[], cwd: string) {
  const peakAtEnd = `data:text/javascript,process.on("exit",()=>process.stderr.write("\\npeak "+process.resourceUsage().maxRSS))`;
  const started = performance.now();
  const { status, stdout, stderr } = spawnSync(process.execPath, ["--import", peakAtEnd, ...args], {
    cwd,
    encoding: "utf8",
    maxBuffer: 2 ** 28,
  });
  if (status !== 0) throw new Error(`${stdout}\n${stderr}`);
  const peak = Number(/peak (\d+)/.exec(stderr)![1]) / 1024;
  return { seconds: (performance.now() - started) / 1000, peak, stdout };
}

/** Each migration makes one call: it creates the table, or renames a column. */
function writeProject(work: string, endpoint: string): void {
  mkdirSync(join(work, "migrations"));
  mkdirSync(join(work, "node_modules"));
  symlinkSync(root, join(work, "node_modules", "lance-migrate"));
  writeFileSync(join(work, "package.json"), '{ "type": "module" }\n');
  const target = { kind: "rest", endpoint, apiKey: "a-key" };
  writeFileSync(
    join(work, "migrate.config.js"),
    `const databases = () => Array.from({ length: ${count} }, (_, at) => "d" + at);\n` +
      `export default { targets: { all: { ...${JSON.stringify(target)}, databases } } };\n`,
  );
  for (let version = 1; version <= Number(values.migrations); version++) {
    const step =
      version === 1 ? `m.createTable("t", { c1: m.utf8() })` : `m.renameColumn("t", "c${version - 1}", "c${version}")`;
    writeFileSync(
      join(work, "migrations", `${String(version).padStart(4, "0")}_m.js`),
      `import * as m from "lance-migrate";\nexport const up = [${step}];\n`,
    );
  }
}

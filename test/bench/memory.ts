/**
 * The most memory that the built command takes (peak of its resident set), by the size of what it is given.
 * `npm run bench memory [-- --sizes 1000,10000,100000]`; prints a table for docs/internals/performance.md.
 */
import { mkdtempSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker, isMainThread, parentPort, workerData } from "node:worker_threads";
import { measure } from "./measure.ts";
import { ledgerOf, markersOf, migrationsOf, serviceOf } from "./memory-scenes.ts";
import { bin, optionsOf, temporaryFolder, writeProject } from "./project.ts";

if (isMainThread) await measureAll();
else serveList(workerData as Parameters<typeof serviceOf>[0]);

function serveList(what: Parameters<typeof serviceOf>[0]): void {
  const server = createServer(serviceOf(what) as RequestListener);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  server.listen(0, "127.0.0.1", () => parentPort!.postMessage((server.address() as AddressInfo).port));
}

async function measureAll(): Promise<void> {
  const sizes = optionsOf({ sizes: "1000,10000,100000" }).sizes.split(",").map(Number);
  const work = temporaryFolder();
  const rows: Record<string, Record<string, string>> = {};
  const note = (what: string, size: number, args: readonly string[], folder: string) => {
    const { peak, wall, code } = measure([bin, ...args], folder);
    const end = code === 0 ? "" : `, exit ${code}`;
    rows[what] = { ...rows[what], [size]: `${peak.toFixed(0)} MB, ${(wall / 1000).toFixed(1)} s${end}` };
    console.error(`${size} ${what}: ${rows[what][size]}`);
  };
  for (const size of sizes) {
    for (const paged of [false, true])
      await withService({ kind: "tables", size, paged }, (url) =>
        note(
          `tables of a service, ${paged ? "in pages" : "one list"}: status`,
          size,
          ["status"],
          aProject(work, service(url, paged)),
        ),
      );
    await withService({ kind: "names", names: await markersOf(size), paged: false }, (url) =>
      note("records in markers: status", size, ["status"], aProject(work, service(url, false))),
    );
    const ledger = aProject(work);
    await ledgerOf(join(ledger, ".lancedb"), size);
    note("records in rows: status", size, ["status"], ledger);
    note("records in rows: history --json", size, ["history", "--json"], ledger);
    if (size <= 10_000) {
      const files = aProject(work);
      migrationsOf(join(files, "migrations"), size);
      note("files in migrations: status", size, ["status"], files);
      note("files in migrations: lint", size, ["lint"], files);
    }
    const huge = aProject(work);
    const columns = Array.from({ length: size / 10 }, (_, n) => `c${n}: m.utf8()`).join(", ");
    const text = `import * as m from "lance-migrate";\nexport const up = [m.createTable("t", { ${columns} })]; // ${"x".repeat(size * 100)}\n`;
    writeFileSync(join(huge, "migrations/0001_huge.ts"), text);
    note("a file of so many hundred bytes and a tenth as many columns: plan", size, ["plan"], huge);
  }
  console.log(`| | ${sizes.join(" | ")} |\n|---|${sizes.map(() => "---|").join("")}`);
  for (const [what, by] of Object.entries(rows))
    console.log(`| ${what} | ${sizes.map((size) => by[size] ?? "").join(" | ")} |`);
}

function service(endpoint: string, paged: boolean): object {
  return { kind: "rest", endpoint, apiKey: "a-key-for-memory", dialect: paged ? "namespace" : "service" };
}

function aProject(work: string, target?: object): string {
  const folder = mkdtempSync(join(work, "project-"));
  writeProject(folder, target && { target });
  return folder;
}

async function withService(what: Parameters<typeof serviceOf>[0], work: (url: string) => void): Promise<void> {
  // A thread of its own: the command is waited for without a turn of our event loop.
  const worker = new Worker(fileURLToPath(import.meta.url), { workerData: what });
  const port = await new Promise<number>((done) => worker.once("message", done));
  work(`http://127.0.0.1:${port}`);
  await worker.terminate();
}

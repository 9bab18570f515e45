/** Projects of benchmarks, with the built package, and the services that they use. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { foldLedger } from "../../src/ledger/state/fold.ts";
import { journalOf } from "../../src/ledger/journal/open-journal.ts";
import { takeLease, type Lease } from "../../src/ledger/lease/lease.ts";
import { thisRunner } from "../../src/run/run-context.ts";
import { open as openFolder } from "../../src/targets/lance/lance.ts";
import { open as openService } from "../../src/features/rest/rest.ts";
import { systemClock } from "../../src/time/clock.ts";

export const root = fileURLToPath(new URL("../..", import.meta.url));
export const bin = join(root, "dist", "bin.js");

/** The client of the engine, loaded as the command loads it. */
export const lancedb = createRequire(import.meta.url)("@lancedb/lancedb") as typeof import("@lancedb/lancedb");

const folderTarget = { kind: "lance", uri: ".lancedb" } as const;
const apiKey = "a-key-for-bench";

/** What is typed after the name of a benchmark, by name, or the default. */
export function optionsOf<Name extends string>(defaults: Readonly<Record<Name, string>>): Record<Name, string> {
  const options = Object.fromEntries(
    Object.entries<string>(defaults).map(([name, value]) => [name, { type: "string", default: value }] as const),
  );
  return parseArgs({ options }).values as Record<Name, string>;
}

/** A folder that is gone when this process ends. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "lance-migrate-bench-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

interface Contents {
  /** The target of the configuration: a folder unless it is given. */
  readonly target?: object;
  /** One for each migration. */
  readonly steps?: readonly string[];
  /** By path in the project. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
}

/** Writes a project, in which "lance-migrate" is the built package. */
export function writeProject(folder: string, { target = folderTarget, steps = [], files = {} }: Contents = {}): void {
  for (const name of ["migrations", "node_modules"]) mkdirSync(join(folder, name), { recursive: true });
  symlinkSync(root, join(folder, "node_modules", "lance-migrate"));
  const all = {
    "package.json": '{ "type": "module" }\n',
    "migrate.config.ts": `export default { targets: { here: ${JSON.stringify(target)} } };\n`,
    ...files,
  };
  for (const [path, content] of Object.entries(all)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  for (const [index, step] of steps.entries()) writeMigration(folder, index + 1, step);
}

/** Writes a migration of one step, whose builders are members of `m`. */
export function writeMigration(folder: string, version: number, step: string, extension = "ts"): void {
  const text = `import * as m from "lance-migrate";\n\nexport const up = [${step}];\n`;
  writeFileSync(join(folder, "migrations", `${String(version).padStart(4, "0")}_change.${extension}`), text);
}

/** Runs the built command beside this process; throws if it fails. */
export async function migrate(folder: string, args: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, [bin, ...args, "--quiet"], {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
  });
  const [code] = (await once(child, "exit")) as [number | null];
  if (code !== 0) throw new Error(`migrate ${args.join(" ")} ended with ${code}`);
}

/** Starts `migrate serve`, and gives the target of its configuration. */
export async function startService(dialect: "service" | "namespace", data: string) {
  const args = [bin, "serve", "--data", data, "--port", "0", "--json", "--quiet"];
  const line = await firstLineOf(args, { MIGRATE_API_KEY: apiKey });
  return { kind: "rest", endpoint: (JSON.parse(line) as { url: string }).url, apiKey, dialect } as const;
}

/** Starts the service of databases-service.ts, whose answers take `latency` milliseconds, and gives its address. */
export async function startFastService(latency: number): Promise<string> {
  const script = fileURLToPath(new URL("databases-service.ts", import.meta.url));
  return `http://127.0.0.1:${(await firstLineOf([script, String(latency)])).trim()}`;
}

/** Starts a script that runs until this process ends. */
async function firstLineOf(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "ignore"],
  });
  process.on("exit", () => child.kill());
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  child.unref();
  (child.stdout as Socket).unref();
  return line.toString();
}

/** Works with the lease of a project's ledger. */
export async function withLease(
  folder: string,
  work: (lease: Lease) => Promise<void>,
  target: Parameters<typeof openService>[0] | typeof folderTarget = folderTarget,
): Promise<void> {
  const place = { name: "bench", folder };
  const opened = await (target.kind === "rest" ? openService(target, place) : openFolder(target, place));
  const journal = journalOf(opened, "_migrations");
  const terms = { duration: 3_600_000, clock: systemClock };
  const lease = await takeLease(journal, foldLedger(await journal.read()), thisRunner(), undefined, terms);
  if (lease === undefined) throw new Error("another run has the lease");
  await work(lease);
  await lease.release();
  await opened.close();
}

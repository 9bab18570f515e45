/** A table service on a folder of its own, and those who talk to it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { ConnectionOptions } from "@lancedb/lancedb";
import { startService, type Service } from "../../src/features/serve/start-service.ts";
import { lancedb } from "../support/tables.ts";
import { root, temporaryFolder } from "../support/project.ts";

type Arrow = typeof import("apache-arrow");
/** The copy that @lancedb/lancedb itself loads, so that its `instanceof` holds. */
export const arrow = createRequire(import.meta.url)("apache-arrow") as Arrow;

export type Connection = Awaited<ReturnType<typeof lancedb.connect>>;
export type Table = Awaited<ReturnType<Connection["openTable"]>>;

export const apiKey = "sk-live-4711-never-in-a-log";

export interface Served {
  readonly service: Service;
  readonly folder: string;
  /** The lines that the service logged so far. */
  readonly log: readonly string[];
  /** The official client, connected to the service. */
  readonly remote: Connection;
  /** The official client on the service's folder. */
  readonly local: Connection;
}

type ServiceOptions = Parameters<typeof startService>[0];

/** A running service and its clients, gone after the test. */
export async function aService(options: Partial<ServiceOptions> = {}): Promise<Served> {
  const folder = temporaryFolder();
  const { service, log } = await startIn(folder, options);
  onTestFinished(async () => await service.close());
  const remote = await connectTo(service.url);
  const local = await lancedb.connect(folder, { readConsistencyInterval: 0 });
  onTestFinished(() => {
    remote.close();
    local.close();
  });
  return { service, folder, log, remote, local };
}

/** A running service that the caller closes. */
export async function startIn(folder: string, options: Partial<ServiceOptions> = {}) {
  const log: string[] = [];
  const service = await startService({
    data: folder,
    host: "127.0.0.1",
    port: 0,
    apiKey,
    // What the workers are for has tests of its own.
    workers: 0,
    log: (line) => log.push(line),
    ...options,
  });
  return { service, log };
}

/** The built command as a process of its own, `migrate serve`, that the caller closes. */
export async function startCommand(folder: string, flags: readonly string[], mostFiles = 4_096) {
  const args = [join(root, "dist", "bin.js"), "serve", "--data", folder, "--port", "0", ...flags];
  const limited = ["-c", `ulimit -n ${mostFiles}; exec "$0" "$@"`, process.execPath, ...args];
  const child = spawn("/bin/sh", limited, { env: { ...process.env, MIGRATE_API_KEY: apiKey, NO_COLOR: "1" } });
  const log: string[] = [];
  child.stderr.setEncoding("utf8").on("data", (text: string) => log.push(text));
  const [line] = (await Promise.race([
    once(child.stdout, "data"),
    once(child, "exit").then(() => Promise.reject(new Error(`it did not start: ${log.join("")}`))),
  ])) as [Buffer];
  const close = async () => {
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    return ((await ended) as [number | null])[0];
  };
  const firstLine = String(line).trim();
  return { url: firstLine.split(" ").at(-1)!, firstLine, pid: child.pid!, log, close };
}

/** The official client; it tries everything once, so that a failure is quick and not hidden by a second try. */
export async function connectTo(
  url: string,
  { uri = "db://x", ...options }: Partial<ConnectionOptions> & { uri?: string } = {},
): Promise<Connection> {
  return await lancedb.connect(uri, {
    apiKey,
    hostOverride: url,
    clientConfig: { retryConfig: { retries: 0, connectRetries: 0, readRetries: 0 } },
    ...options,
  });
}

/** Rows as plain values: vectors as arrays, integers as numbers where they fit and as "…n" where they don't. */
export function plain(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_, cell: unknown) => {
      if (typeof cell === "bigint") return Number.isSafeInteger(Number(cell)) ? Number(cell) : `${cell}n`;
      if (typeof cell === "number" && !Number.isFinite(cell)) return String(cell);
      return cell;
    }),
  );
}

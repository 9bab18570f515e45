/** Starts the table service: tables of a folder over HTTP (docs/service.md). */
import { resolve } from "node:path";
import { MigrateError } from "../../errors/migrate-error.ts";
import { createApp, type AppOptions } from "./app.ts";
import type { GuardOptions } from "./authenticate.ts";
import { openDataFolder, removeCreated } from "./tables/data-folder.ts";
import { openTables } from "./tables/open-tables.ts";
import { startIndexer } from "./work/indexer.ts";
import { keepBodies, removeLeftBodies } from "./work/left-bodies.ts";
import { startWorkers, usualWorkers, type PoolOptions } from "./work/pool.ts";

export interface ServiceOptions
  extends
    GuardOptions,
    Pick<AppOptions, "log">,
    Partial<Omit<PoolOptions, "data"> & Pick<AppOptions, "requestTimeout">> {
  /** The folder that holds the tables; created if it does not exist. */
  readonly data: string;
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** Milliseconds without writes to a table after which its indexes are brought up to date; 0 for never. */
  readonly indexAfter?: number | undefined;
}

export interface Service {
  readonly url: string;
  readonly port: number;
  /** Takes no new requests, and resolves when those in progress have ended or were cut off. */
  close(): Promise<void>;
}

/** Milliseconds after which `close` cuts connections and ends workers. Containers are killed after ten seconds. */
const longestClose = 8_000;
const defaults = {
  bodyLimit: 256 * 2 ** 20,
  answerLimit: 4 * 2 ** 30,
  requestTimeout: 300_000,
  workers: usualWorkers,
  workerMemory: 2 * 2 ** 30,
  workTimeout: 600_000,
  indexAfter: 5_000,
};

/** Starts the service, which answers once this has resolved. Throws ERR_SERVICE_DATA and ERR_SERVICE_ADDRESS. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { host } = options;
  const data = openDataFolder(resolve(options.data));
  // A worker would open it only with its first request.
  (await openTables(data.path)).close();
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  const settings = { ...options, ...defaults, ...given, data };
  const workers = await startWorkers(settings);
  const { indexAfter } = settings;
  const indexing = indexAfter === 0 ? undefined : { indexAfter, indexer: startIndexer(settings) };
  const bodies = keepBodies(data);
  const ending = new AbortController();
  // Fails only because the service ends meanwhile.
  removeLeftBodies(data, ending.signal).catch(() => {});
  const end = async () => {
    ending.abort();
    await Promise.all([workers.close(), indexing?.indexer.close()]);
    bodies.end();
  };
  const app = await createApp({ ...settings, workers, indexing });
  try {
    await app.web.listen({ host, port: options.port });
  } catch (cause) {
    await app.web.close();
    await end();
    removeCreated(data);
    const problem = listenProblems[(cause as NodeJS.ErrnoException).code ?? ""] ?? String(cause);
    throw new MigrateError("ERR_SERVICE_ADDRESS", { host, port: options.port, problem }, { cause });
  }
  const address = app.web.server.address();
  const port = typeof address === "object" && address !== null ? address.port : options.port;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${port}`,
    port,
    async close() {
      // Some connections would stay open as long as their clients like: one that becomes idle meanwhile, one whose
      // client sends half a request, and one whose client does not read its answer.
      const idle = setInterval(() => app.web.server.closeIdleConnections(), 50);
      const late = Promise.withResolvers<void>();
      const patience = setTimeout(() => {
        app.web.server.closeAllConnections();
        late.resolve();
      }, longestClose);
      try {
        await app.web.close();
        await Promise.race([app.settled(), late.promise]);
      } finally {
        clearInterval(idle);
        clearTimeout(patience);
        await end();
      }
    },
  };
}

const listenProblems: Readonly<Record<string, string>> = {
  EADDRINUSE: "something listens there already",
  EADDRNOTAVAIL: "this machine has no such address",
  EACCES: "it is not allowed to",
  ENOTFOUND: "there is no such host",
};

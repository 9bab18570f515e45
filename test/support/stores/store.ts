/** An object store on this machine: a server that somebody else wrote, with keys that it checks. */
import { spawn, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { freePort } from "../ports.ts";
import { azurite } from "./azurite.ts";
import { moto } from "./moto.ts";
import type { StorageOptions, StoreProgram, StoreServer } from "./program.ts";

export type StoreKind = "s3" | "azure";
export interface Store extends StoreServer {
  /** A place in the store that nothing else uses. */
  place(): string;
  /** The options for a proxy in front of the store. */
  through(proxy: string): StorageOptions;
  readonly stop: () => Promise<void>;
}

const programs: Readonly<Record<StoreKind, StoreProgram>> = { s3: moto, azure: azurite };

/** The store; or why there can't be one here, as text. */
export async function startStore(kind: StoreKind): Promise<Store | string> {
  const program = programs[kind];
  let command: readonly string[];
  try {
    command = await program.install();
  } catch (error) {
    return `no server for ${kind} can be installed: ${error instanceof Error ? error.message : String(error)}`;
  }
  return await started(program, command);
}

async function started(program: StoreProgram, [file, ...first]: readonly string[]): Promise<Store> {
  const port = await freePort();
  const env = { ...process.env, ...program.env };
  const server = spawn(file!, [...first, ...program.args(port)], { stdio: ["ignore", "ignore", "pipe"], env });
  const ended = once(server, "exit");
  const stop = async () => {
    server.kill("SIGKILL");
    await ended;
  };
  try {
    await listening(server, port);
    const store = await program.prepare(port);
    return {
      ...store,
      place: () => `${store.uri("tables")}/${randomUUID()}`,
      through: (proxy) => replaced(store, proxy),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function replaced({ endpoint, storageOptions }: StoreServer, proxy: string): StorageOptions {
  const { origin } = new URL(endpoint);
  return Object.fromEntries(Object.entries(storageOptions).map(([name, text]) => [name, text.replace(origin, proxy)]));
}

/** A server takes seconds to start. */
async function listening(server: ChildProcess, port: number): Promise<void> {
  let said = "";
  server.stderr!.setEncoding("utf8").on("data", (text: string) => (said = `${said}${text}`.slice(-2_000)));
  for (let tries = 0; ; tries++) {
    if (await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined)) return;
    if (tries === 600 || server.exitCode !== null) throw new Error(`nothing listens on port ${port}: ${said}`);
    await pause(100);
  }
}

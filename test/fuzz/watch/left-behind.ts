/** What is left of clients after they have gone. */
import { readdirSync, readFileSync, lstatSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** Milliseconds for what still has to end: a client that reads nothing is closed after half a minute. */
const patience = 60_000;

/** Problems: connections that are open, bodies that are kept, tables that were dropped. */
export async function leftOf(port: number, folder: string): Promise<readonly string[]> {
  const until = performance.now() + patience;
  for (;;) {
    const left = [...openConnections(port), ...leftBodies(folder), ...leftTables(folder)];
    if (left.length === 0 || performance.now() > until) return left;
    await sleep(200);
  }
}

/** Those that the service has not closed. None where there is no /proc. */
function openConnections(port: number): readonly string[] {
  const local = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const [established, closing] = ["01", "08"];
  try {
    const lines = readFileSync("/proc/net/tcp", "utf8").trim().split("\n").slice(1);
    const open = lines.filter((line) => {
      const [, address, , state] = line.trim().split(/\s+/);
      return address!.endsWith(local) && (state === established || state === closing);
    });
    return open.length === 0 ? [] : [`${open.length} connections are left`];
  } catch {
    return [];
  }
}

/** The links of the fuzzer look like them, and are none. */
function leftBodies(folder: string): readonly string[] {
  const path = join(folder, ".lance-migrate");
  const folders = readdirSync(path).filter((name) => !lstatSync(join(path, name)).isSymbolicLink());
  return folders.map((name) => `files of bodies are left: ${name} with ${readdirSync(join(path, name)).length}`);
}

function leftTables(folder: string): readonly string[] {
  return readdirSync(folder)
    .filter((name) => name.startsWith("visit-"))
    .map((name) => `${name} was dropped and is there`);
}

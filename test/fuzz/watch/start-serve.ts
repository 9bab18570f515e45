/** `migrate serve` as a process of its own, and what its log says. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const command = fileURLToPath(new URL("../../../dist/bin.js", import.meta.url));

export interface Serving {
  readonly port: number;
  readonly pid: number;
  /** The ids of the requests that the log reports as failed inside. */
  readonly failed: ReadonlySet<string>;
  /** Why requests failed inside, and how often. */
  readonly causes: ReadonlyMap<string, number>;
  /** Lines of the log with the key. */
  readonly leaks: readonly string[];
  /** What it wrote besides its log. */
  readonly strays: readonly string[];
  hasEnded(): boolean;
  /** Gives the exit code. */
  stop(): Promise<number | null>;
}

/** With these flags; or a script, which gets the folder alone. */
export async function startServe(folder: string, apiKey: string, how: readonly string[] | string): Promise<Serving> {
  const args = typeof how === "string" ? [how, folder] : [command, "serve", "--data", folder, "--port", "0", ...how];
  const child = spawn(process.execPath, args, {
    env: { ...process.env, MIGRATE_API_KEY: apiKey, NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const kill = () => void child.kill("SIGKILL");
  process.once("exit", kill);
  child.once("exit", () => process.off("exit", kill));
  const ended = once(child, "exit") as Promise<[number | null]>;
  const failed = new Set<string>();
  const causes = new Map<string, number>();
  let isStopping = false;
  const [leaks, strays]: [string[], string[]] = [[], []];
  createInterface(child.stderr).on("line", (line) => {
    if (line.includes(apiKey)) leaks.push(line.slice(0, 300));
    const [, status, id, cause] = / (\d{3}) (?:\d+ms|-) (\S+)(?: (.*))?$/.exec(line) ?? [];
    const isNote = / refused connections: | could not bring the indexes of (linked|partly) /.test(line);
    if (status === undefined && !isStopping && !isNote) strays.push(line.slice(0, 300));
    if (status !== "500") return;
    failed.add(id!);
    const words = (cause ?? "no cause").replace(/[\da-f]{8}-[\da-f-]+|\d+/g, "N").slice(0, 160);
    causes.set(words, (causes.get(words) ?? 0) + 1);
  });
  const [line] = (await Promise.race([
    once(child.stdout, "data"),
    ended.then(() => Promise.reject(new Error(`migrate serve did not start: ${strays.join("\n")}`))),
  ])) as [Buffer];
  return {
    port: Number(/:(\d+)\s*$/.exec(String(line))![1]),
    pid: child.pid!,
    failed,
    causes,
    leaks,
    strays,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    async stop() {
      isStopping = true;
      child.kill("SIGTERM");
      return (await ended)[0];
    },
  };
}

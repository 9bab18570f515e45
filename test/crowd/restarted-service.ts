/** `migrate serve` on one folder and one port, which is killed and started again. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { childrenOf } from "../support/processes.ts";

const built = fileURLToPath(new URL("../../dist/bin.js", import.meta.url));

/** Of the log. */
const mostLines = 20;

export type RestartedService = Awaited<ReturnType<typeof startRestarted>>;

interface RestartedOptions {
  readonly folder: string;
  readonly apiKey: string;
  /** The command. */
  readonly bin?: string | undefined;
  /** Gets what the service may not do: end by itself, or with another code than 0 when it is asked to end. */
  readonly report: (words: string) => void;
}

export async function startRestarted({ folder, apiKey, bin = built, report }: RestartedOptions) {
  let port = 0;
  const log: string[] = [];
  const ended = ({ signalCode, exitCode }: ChildProcess) =>
    report(`the service ended with ${signalCode ?? exitCode}: ${log.join("\n")}`);
  let child: ChildProcess;
  const start = async () => {
    const args = [bin, "serve", "--data", folder, "--port", String(port), "--quiet", "--json"];
    const started = spawn(process.execPath, args, {
      env: { ...process.env, MIGRATE_API_KEY: apiKey },
      stdio: ["ignore", "pipe", "pipe"],
    });
    createInterface(started.stderr).on("line", (line) => {
      log.push(line);
      if (log.length > mostLines) log.shift();
    });
    const failed = once(started, "exit").then(([code, signal]) => {
      throw new Error(`the service did not start: it ended with ${signal ?? code}`);
    });
    const [line] = (await Promise.race([once(started.stdout, "data"), failed])) as [Buffer];
    port = (JSON.parse(line.toString()) as { port: number }).port;
    failed.catch(() => {
      if (child === started) ended(started);
    });
    child = started;
  };
  const end = async (signal: "SIGKILL" | "SIGTERM") => {
    const last = child;
    child = undefined as never;
    const exit = once(last, "exit");
    last.kill(signal);
    await exit;
    if (signal === "SIGTERM" && last.exitCode !== 0) ended(last);
  };
  await start();
  process.once("exit", () => child?.kill("SIGKILL"));
  return {
    url: `http://127.0.0.1:${port}`,
    pid: () => child?.pid,
    /** Kills one of its workers; whether there was one. */
    killWorker(choose: (workers: readonly number[]) => number): boolean {
      const workers = childrenOf(child?.pid ?? 0);
      try {
        return workers.length > 0 && process.kill(choose(workers), "SIGKILL");
      } catch {
        return false; // it has ended at this moment
      }
    },
    async restart(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
      await end(signal);
      await start();
    },
    stop: () => end("SIGTERM"),
  };
}

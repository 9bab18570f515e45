/** What the clients of the crowd are asked to do, and the processes that they are in. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { officialPackages, pythonWith } from "../clients/client.ts";

export interface Row {
  readonly id: number;
  readonly value: number;
  readonly text: string;
  readonly vector: readonly number[];
}

export interface Task {
  readonly number: number;
  readonly client: number;
  /** Whether the client sends again what got no answer, as it does unless it is configured. */
  readonly repeats: boolean;
  readonly table: string;
  readonly what: "create" | "add" | "merge" | "update" | "delete" | "read" | "count" | "index" | "retype";
  readonly rows?: readonly Row[];
  readonly where?: string;
  readonly values?: { readonly value: number; readonly text: string };
  /** Of an index or a retype. */
  readonly column?: string;
  /** Whether the new type has 64 bits. */
  readonly isWide?: boolean;
}

export type Answer = { readonly value?: unknown } | { readonly error: string; readonly isSent: boolean };

export type ClientProcess = ReturnType<typeof startClients>;

/** Starts a process of clients in one language. */
export function startClients(language: "javascript" | "python", url: string, apiKey: string) {
  const script = fileURLToPath(new URL(language === "python" ? "client.py" : "client.ts", import.meta.url));
  const program = language === "python" ? pythonWith(...officialPackages) : process.execPath;
  const child = spawn(program, [script, url, apiKey], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, LANCE_LOG: "off", LANCEDB_LOG: "off" },
  });
  const waiting = new Map<number, (answer: Answer) => void>();
  let last = 0;
  let ended: Answer | undefined;
  createInterface({ input: child.stdout }).on("line", (line) => {
    const { number, ...answer } = JSON.parse(line) as Answer & { readonly number: number };
    waiting.get(number)?.(answer);
    waiting.delete(number);
  });
  child.once("exit", (code, signal) => {
    ended = { error: `the process of the client ended with ${signal ?? code}`, isSent: true };
    for (const settle of waiting.values()) settle(ended);
  });
  return {
    pid: child.pid!,
    async ask(task: Omit<Task, "number">): Promise<Answer> {
      if (ended !== undefined) return ended;
      const number = ++last;
      return await new Promise((resolve) => {
        waiting.set(number, resolve);
        child.stdin.write(`${JSON.stringify({ ...task, number })}\n`);
      });
    },
    async stop(): Promise<void> {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  };
}

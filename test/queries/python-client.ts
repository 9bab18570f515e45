/** The client for Python, in a process that performs one query after another. */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { pythonWith } from "../clients/client.ts";
import type { Answer, Query } from "./query.ts";

export function startPython(packages: readonly string[], folder: string, url: string, apiKey: string) {
  const args = [fileURLToPath(new URL("ask.py", import.meta.url)), folder, url, apiKey];
  const child = spawn(pythonWith(...packages), args, {
    stdio: ["pipe", "pipe", "pipe"],
    env: { ...process.env, LANCE_LOG: "off", LANCEDB_LOG: "off" },
  });
  let printed = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (printed = (printed + text).slice(-2_000)));
  const waiting: { resolve(answer: Answer): void; reject(error: Error): void }[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => waiting.shift()!.resolve(JSON.parse(line) as Answer));
  child.once("close", (code, signal) => {
    for (const { reject } of waiting) reject(new Error(`Python ended with ${signal ?? code}: ${printed}`));
  });
  return {
    async ask(place: "folder" | "service", query: Query): Promise<Answer> {
      child.stdin.write(`${JSON.stringify({ place, query })}\n`);
      return await new Promise((resolve, reject) => waiting.push({ resolve, reject }));
    },
    stop: () => child.kill(),
  };
}

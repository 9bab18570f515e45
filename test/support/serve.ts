/** `migrate serve` as a process of its own. */
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { root, startNode, type Running } from "./project.ts";
import { apiKey } from "./service.ts";

export interface ServeProcess extends Running {
  readonly url: string;
}

/** Serves a folder until the test has finished. */
export async function serveProcess(data: string, more: readonly string[] = [], port = 0): Promise<ServeProcess> {
  const args = [join(root, "dist", "bin.js"), "serve", "--data", data, "--port", String(port), "--json", ...more];
  const running = startNode(args, data, { MIGRATE_API_KEY: apiKey });
  onTestFinished(async () => {
    running.process.kill("SIGKILL");
    await running.finished;
  });
  const line = await new Promise<string>((resolve, reject) => {
    running.process.stdout!.once("data", resolve);
    void running.finished.then(({ code, stderr }) => reject(new Error(`migrate serve ended with ${code}: ${stderr}`)));
  });
  return { ...running, url: (JSON.parse(line) as { url: string }).url };
}

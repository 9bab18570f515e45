/** A running service, on a folder of its own or on a given one. */
import { onTestFinished } from "vitest";
import { startService } from "../../src/features/serve/start-service.ts";
import { temporaryFolder } from "./project.ts";

export const apiKey = "a key that nobody may see";

export interface Served {
  readonly url: string;
  /** Where its tables are. */
  readonly data: string;
}

export async function aService(data: string = temporaryFolder()): Promise<Served> {
  const { url, close } = await startService({ data, host: "127.0.0.1", port: 0, workers: 0, apiKey, log: () => {} });
  onTestFinished(close);
  return { url, data };
}

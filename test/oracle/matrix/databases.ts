/** The databases of the matrix: a folder, and another one behind a service. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startService } from "../../../src/features/serve/start-service.ts";
import type { Target } from "../../../src/targets/contract/target.ts";
import { open as openLance } from "../../../src/targets/lance/lance.ts";
import { open as openRest } from "../../../src/features/rest/rest.ts";

export interface Database {
  readonly folder: string;
  readonly target: Target;
}

export interface Databases extends AsyncDisposable {
  readonly folder: Database;
  readonly service: Database;
  /** Where the modules of backfills are. */
  readonly code: string;
  tables(folder: string): readonly string[];
}

const apiKey = "a key of the matrix";

export async function openDatabases(): Promise<Databases> {
  const place = mkdtempSync(join(tmpdir(), "lance-migrate-matrix-"));
  const folders = ["folder", "service", "code"].map((name) => join(place, name)) as [string, string, string];
  for (const folder of folders) mkdirSync(folder);
  const [folder, served, code] = folders;
  writeFileSync(join(code, "seven.mjs"), "export default (rows) => rows.map(() => 7);\n");
  writeFileSync(join(code, "vector.mjs"), "export default (rows) => rows.map(() => [1, 0.5]);\n");
  const service = await startService({ data: served, host: "127.0.0.1", port: 0, workers: 0, apiKey, log: () => {} });
  const context = { name: "local", folder: place };
  const embedded = await openLance({ kind: "lance", uri: folder }, context);
  const remote = await openRest({ kind: "rest", endpoint: service.url, apiKey, dialect: "namespace" }, context);
  return {
    folder: { folder, target: embedded },
    service: { folder: served, target: remote },
    code,
    tables: (one) => readdirSync(one),
    async [Symbol.asyncDispose]() {
      await embedded.close();
      await remote.close();
      await service.close();
      rmSync(place, { recursive: true, force: true });
    },
  };
}

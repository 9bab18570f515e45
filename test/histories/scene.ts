/** What a history runs on: a folder with tables, a target, perhaps a service in front of it, and what is told of it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isMigrateError, type MigrateError } from "../../src/errors/migrate-error.ts";
import { startService, type Service } from "../../src/features/serve/start-service.ts";
import { open as openLance } from "../../src/targets/lance/lance.ts";
import { open as openRest } from "../../src/features/rest/rest.ts";
import type { Target } from "../../src/targets/contract/target.ts";
import type { Calls } from "./thread.ts";
import { wordsOfWrite, type Write } from "./write.ts";

export type Where = "lance" | "namespace";
/** How often each thing happened. */
export type Counts = Map<string, number>;

const apiKey = "a key of the histories";

export class Scene {
  readonly folder: string;
  readonly target: Target;
  readonly application: Calls;
  readonly #counts: Counts;
  readonly #lines: string[];

  constructor(folder: string, target: Target, application: Calls, counts: Counts, lines: string[]) {
    this.folder = folder;
    this.target = target;
    this.application = application;
    this.#counts = counts;
    this.#lines = lines;
  }

  /** Counts it. */
  note(what: string): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1);
  }

  /** Told when something goes wrong later. */
  trace(line: string): void {
    this.#lines.push(line);
  }

  noteWrites(writes: readonly Write[], when: string): void {
    for (const write of writes) {
      this.note(`${write.kind}, ${when}: ${write.isAcknowledged ? "acknowledged" : "refused"}`);
      this.trace(`  ${wordsOfWrite(write)}`);
    }
  }
}

/** Throws what the work throws, with all that was done before it. */
export async function onScene(
  seed: number,
  where: Where,
  application: Calls,
  counts: Counts,
  work: (scene: Scene) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "lance-migrate-history-"));
  let service: Service | undefined;
  let target: Target | undefined;
  const lines: string[] = [];
  try {
    if (where === "namespace")
      service = await startService({ data: folder, host: "127.0.0.1", port: 0, workers: 0, apiKey, log: () => {} });
    const context = { name: "local", folder };
    target =
      service === undefined
        ? await openLance({ kind: "lance", uri: folder }, context)
        : await openRest({ kind: "rest", endpoint: service.url, apiKey, dialect: "namespace" }, context);
    await application.open({ seed, folder, service: service && { url: service.url, apiKey } });
    await work(new Scene(folder, target, application, counts, lines));
  } catch (error) {
    throw new Error(`${(error as Error).message}\n\n${lines.join("\n")}`, { cause: error });
  } finally {
    await application.close().catch(() => {});
    await target?.close();
    await service?.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What a run ended with; what is no error of ours is a violation. */
export async function outcomeOf(work: () => Promise<unknown>): Promise<MigrateError | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (!isMigrateError(error))
      throw new Error(`an internal error: ${String((error as Error).stack)}`, { cause: error });
    return error;
  }
}

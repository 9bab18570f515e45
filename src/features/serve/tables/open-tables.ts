/** The tables of the folder. They are looked up and opened for each request, because other processes may change them too. */
import { createTable, leftoverIn, renameTable } from "../../../engine/create-table.ts";
import { dropTable } from "../../../engine/drop-table.ts";
import { connect, createFilledTable, openTable, type Connection, type EngineTable } from "../../../engine/engine.ts";
import { engineLimits } from "../../../engine/probes/engine-limits.ts";
import { isConflict } from "../../../engine/problem/engine-problem.ts";
import { keepsLog } from "../../../engine/write-rows.ts";
import { tableNamesIn } from "../../../engine/folder/list-tables.ts";
import type { CallOutcome } from "../../../targets/contract/target.ts";
import { patience, retry } from "../../../targets/contract/retry.ts";
import { systemClock } from "../../../time/clock.ts";
import { keptInLog, tableExists, tableLeft, tableNotFound } from "./error-answer.ts";

export type CreateMode = "create" | "overwrite" | "existOk";

type TableWork<Result> = (table: EngineTable) => Promise<Result>;

export interface ServedTables {
  readonly folder: string;
  /** All names, in byte order. */
  names(): Promise<readonly string[]>;
  read<Result>(name: string, work: TableWork<Result>): Promise<Result>;
  /** Work that commits; it is repeated when others' commits come first. */
  write<Result>(name: string, work: TableWork<Result>): Promise<Result>;
  /**
   * Creates a table from an Arrow IPC file and gives its version. Throws a refusal if the table exists and `mode` is
   * create.
   */
  create(name: string, file: Buffer, mode: CreateMode): Promise<number>;
  drop(name: string): Promise<void>;
  /** Throws a refusal if a table of the new name exists. */
  rename(name: string, to: string): Promise<void>;
  close(): void;
}

/** Milliseconds after which a change is not tried again. */
const longestTime = 20_000;

/** The engine would create the folder if it were missing: see data-folder.ts. */
export async function openTables(folder: string, cacheBytes?: number): Promise<ServedTables> {
  await engineLimits();
  const db = await connect({ uri: folder, cacheBytes });

  const open = async (name: string) => {
    const table = await openTable(db, name, folder);
    if (table === undefined) throw tableNotFound(name);
    return table;
  };

  const read = async <Result>(name: string, work: TableWork<Result>): Promise<Result> => {
    const table = await open(name);
    try {
      return await work(table);
    } catch (error) {
      // The table was dropped while it was read: the engine then reports a missing file.
      if (/not found/i.test(String(error)) && (await openTable(db, name, folder)) === undefined)
        throw tableNotFound(name);
      throw error;
    } finally {
      table.close();
    }
  };

  return {
    folder,
    names: async () => tableNamesIn(folder),
    read,
    write: (name, work) =>
      retrying(() =>
        read(name, async (table) => {
          if (await keepsLog({ folder, table: name }, async () => table)) throw keptInLog(name);
          return await work(table);
        }),
      ),
    create: (name, file, mode) =>
      retrying(async () => {
        await create(db, folder, name, file, mode);
        return await read(name, (table) => table.version());
      }),
    async drop(name) {
      (await open(name)).close();
      if (!(await dropTable(db, folder, name))) throw tableNotFound(name);
    },
    async rename(name, to) {
      (await open(name)).close();
      if (!renameTable(folder, name, to)) throw tableExists(to);
    },
    close: () => db.close(),
  };
}

async function create(db: Connection, folder: string, name: string, file: Buffer, mode: CreateMode): Promise<void> {
  const created = await createTable({ uri: folder, folder }, name, file);
  if (created) return;
  if (mode !== "overwrite" && leftoverIn(folder, name) !== undefined) throw tableLeft(name);
  if (mode === "existOk") return;
  if (mode === "create") throw tableExists(name);
  await createFilledTable(db, name, file, "overwrite");
}

/** A conflict means that the engine committed nothing, so the whole work is repeated, reads included. */
async function retrying<Result>(work: () => Promise<Result>): Promise<Result> {
  const started = performance.now();
  const verdict = (error: unknown): CallOutcome => {
    // The engine may have retried for half a minute itself, and a client does not wait for thirty such tries.
    const isLate = performance.now() - started > longestTime;
    return { kind: isConflict(error) && !isLate ? "conflict" : "refused" };
  };
  return await retry(work, verdict, systemClock, patience.served);
}

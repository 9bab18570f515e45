/** The tables of the folder: found, opened and locked for each request anew, as other processes may act on them too. */
import { accessSync, constants, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { createTableFrom, leftoverIn, renameTable } from "../../engine/create-table.ts";
import { dropTable } from "../../engine/drop-table.ts";
import {
  connect,
  createFilledTable,
  engineProblem,
  isConflict,
  openTable,
  type Connection,
  type EngineTable,
} from "../../engine/engine.ts";
import { MigrateError } from "../../errors/migrate-error.ts";
import { createLocks } from "./table-locks.ts";
import { refuse, tableExists, tableLeft, tableNotFound, tooManyChanges } from "./error-answer.ts";

export type CreateMode = "create" | "overwrite" | "existOk";

type Work<Result> = (table: EngineTable) => Promise<Result>;

export interface ServedTables {
  readonly folder: string;
  /** All names, in the order of their bytes. */
  names(): Promise<readonly string[]>;
  read<Result>(name: string, work: Work<Result>): Promise<Result>;
  /** Writes rows, beside others who do. */
  write<Result>(name: string, work: Work<Result>): Promise<Result>;
  /** Changes the table itself, with nobody beside. */
  change<Result>(name: string, work: Work<Result>): Promise<Result>;
  /** Creates a table from an Arrow IPC file and gives its version. Throws a refusal when mode is create and it is there. */
  create(name: string, file: Buffer, mode: CreateMode): Promise<number>;
  drop(name: string): Promise<void>;
  /** Throws a refusal when there is one of the new name. */
  rename(name: string, to: string): Promise<void>;
  close(): void;
}

const tries = 30;
const longestWait = 500;
const longestTime = 20_000;

/** Opens the folder and makes it where it is not there. Throws ERR_SERVICE_DATA. */
export async function openTables(folder: string): Promise<ServedTables> {
  const db = await openFolder(folder);
  const locks = createLocks();

  const open = async (name: string) => {
    const table = await openTable(db, name);
    if (table === undefined) throw tableNotFound(name);
    return table;
  };

  const read = async <Result>(name: string, work: Work<Result>): Promise<Result> => {
    const table = await open(name);
    try {
      return await work(table);
    } catch (error) {
      // Dropped while it was read: what the engine then misses is some file.
      if (/not found/i.test(String(error)) && (await openTable(db, name)) === undefined) throw tableNotFound(name);
      throw error;
    } finally {
      table.close();
    }
  };

  const rename = async (name: string, to: string) => {
    (await open(name)).close();
    if (!renameTable(folder, name, to)) throw tableExists(to);
  };

  return {
    folder,
    names: () => db.tableNames(),
    read,
    write: (name, work) => locks.shared(name, () => retrying(() => read(name, work))),
    change: (name, work) => locks.alone(name, () => retrying(() => read(name, work))),
    create: (name, file, mode) =>
      locks.alone(name, () =>
        retrying(async () => {
          await create(db, folder, name, file, mode);
          return await read(name, (table) => table.version());
        }),
      ),
    drop: (name) =>
      locks.alone(name, async () => {
        (await open(name)).close();
        if (!(await dropTable(db, folder, name))) throw tableNotFound(name);
      }),
    rename: (name, to) => {
      // In one order, so that two renames never wait for each other.
      const [first, second] = [name, to].toSorted();
      return locks.alone(first!, () => locks.alone(second!, async () => await rename(name, to)));
    },
    close: () => db.close(),
  };
}

async function openFolder(folder: string): Promise<Connection> {
  try {
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === false) throw new Error("is a file");
    // The engine makes the folder and says what is wrong with it.
    const db = await connect({ uri: folder });
    accessSync(folder, constants.R_OK | constants.W_OK);
    return db;
  } catch (cause) {
    const forbidden = /^(EACCES|EPERM|EROFS)$/.test(String((cause as NodeJS.ErrnoException).code));
    const problem = forbidden ? "can't be read and written by this user" : engineProblem(cause);
    throw new MigrateError("ERR_SERVICE_DATA", { folder, problem }, { cause });
  }
}

async function create(db: Connection, folder: string, name: string, file: Buffer, mode: CreateMode): Promise<void> {
  const created = await createTableFrom(folder, name, file);
  if (created) return;
  if (mode !== "overwrite" && leftoverIn(folder, name) !== undefined) throw tableLeft(name);
  if (mode === "existOk") return;
  if (mode === "create") throw tableExists(name);
  await createFilledTable(db, name, file, "overwrite");
}

/** An engine's conflict means that nothing was committed, so the whole look and act is done again. */
async function retrying<Result>(work: () => Promise<Result>): Promise<Result> {
  const started = performance.now();
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!isConflict(error)) throw error;
      // The engine may have tried for half a minute itself: a client does not wait for thirty of those.
      if (attempt === tries || performance.now() - started > longestTime)
        throw refuse(409, "concurrentModification", tooManyChanges);
      await sleep(Math.random() * Math.min(longestWait, 10 * 2 ** attempt));
    }
  }
}

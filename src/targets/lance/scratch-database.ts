/** A temporary database, in the system's folder for temporary files. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, createEmptyTable, openTable, readColumns } from "../../engine/engine.ts";
import { engineProblem } from "../../engine/problem/engine-problem.ts";
import { renameTable } from "../../engine/create-table.ts";
import { eachFile, search } from "../../engine/query.ts";
import { addRows } from "../../engine/write-rows.ts";
import { MigrateError } from "../../errors/migrate-error.ts";
import type { Action } from "../../actions/model/action.ts";
import type { NewTables } from "../../schema/table-format.ts";
import { isPrepared } from "../../actions/rewrite/prepared-columns.ts";
import { withoutNulls } from "../../schema/metadata.ts";
import { sqlPath } from "../../schema/sql.ts";
import type { Scratch, TableSnapshot, Target } from "../contract/target.ts";
import { open } from "./lance.ts";

const name = "the copy";

/** Creates one. It is removed when it is closed, or when the process ends without closing it. */
export async function openScratch(newTables?: NewTables): Promise<Scratch> {
  const folder = mkdtempSync(join(tmpdir(), "lance-migrate-"));
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  process.once("exit", remove);
  const engine = await open({ kind: "lance", uri: folder, newTables }, { name, folder });
  const db = await connect({ uri: folder }, 0);
  return {
    folder,
    target: {
      ...withRenames(engine, folder),
      async close() {
        try {
          db.close();
          await engine.close();
        } finally {
          remove();
          process.off("exit", remove);
        }
      },
    },
    createSample: reaching(async (name, { columns, metadata }, rows, keys) => {
      await createEmptyTable(db, name, columns, withoutNulls(metadata));
      const { sampleRows } = await import("../../wire/rows/sample-rows.ts");
      const sample = rows === 0 ? undefined : sampleRows(columns, rows, keys);
      if (sample === undefined) return 0;
      const { rowsToIpcFile } = await import("../../wire/rows/write-rows.ts");
      const file = rowsToIpcFile(sample.columns, sample.rows);
      await addRows(await db.openTable(name), file, "append");
      return sample.rows.length;
    }),
    rows: reaching(async (table) => {
      const { canRead, sumOfRows } = await import("../../wire/rows/row-checksum.ts");
      const handle = await openTable(db, table, folder);
      if (handle === undefined) return { count: 0, sum: undefined };
      // Hidden columns may stay after a rollback.
      const all = await readColumns(handle);
      const columns = all.filter((column) => !isPrepared(column.name));
      if (!canRead(columns)) return { count: await handle.countRows(), sum: undefined };
      const shown = columns.map((column) => [column.name, sqlPath([column.name])] as const);
      const wanted = columns.length === all.length ? {} : { columns: shown };
      const { rows, sum } = await sumOfRows(eachFile(await search(handle, wanted)));
      return { count: rows, sum };
    }),
  };
}

function reaching<Args extends readonly unknown[], Result>(work: (...args: Args) => Promise<Result>) {
  return async (...args: Args): Promise<Result> => {
    try {
      return await work(...args);
    } catch (cause) {
      const problem = engineProblem(cause);
      const hint = /not found/i.test(problem)
        ? "; it shares its files with the live table, and those may have been cleaned up meanwhile: start again"
        : "";
      throw new MigrateError("ERR_TARGET_UNREACHABLE", { target: name, problem: problem + hint }, { cause });
    }
  };
}

/** Adds the renaming of tables, which is safe because no other program uses this database. */
function withRenames(engine: Target, folder: string): Target {
  const { capabilities } = engine;
  return {
    ...engine,
    capabilities: { ...capabilities, actions: { ...capabilities.actions, renameTable: true } },
    async execute(action: Action, seen: TableSnapshot | undefined) {
      if (action.kind !== "renameTable") return await engine.execute(action, seen);
      if (renameTable(folder, action.table, action.name)) return {};
      throw new Error(`table ${action.name} exists already`);
    },
  };
}

/** One thing that this tool assumes of the engine, and a test of it. */
import type { Action } from "../../actions/model/action.ts";
import type { Column } from "../../schema/data-type.ts";
import type { RowValues } from "../../schema/row-values.ts";
import { createTable } from "../create-table.ts";
import { connectNatively, packageTable, readColumns, type EngineTable, type NativeDatabase } from "../engine.ts";
import { addRows } from "../write-rows.ts";

export interface Probe {
  readonly name: string;
  /** What is assumed, as a clause. */
  readonly assumes: string;
  /** What would happen to users if it did not hold, as a clause. */
  readonly otherwise: string;
  /** The actions that plans refuse if it does not hold. Absent if the engine can't be used at all then. */
  readonly refuses?: (action: Action) => boolean;
  /** A second at most, in an empty database of its own. An error means no. */
  readonly holds: (scene: Scene) => Promise<boolean>;
}

export type Scene = Awaited<ReturnType<typeof openScene>>;

/** A database in an empty folder, for one probe. */
export async function openScene(folder: string) {
  const db: NativeDatabase = await connectNatively({ uri: folder, folder });
  /** A new handle on the table `t`, which sees no commits that come later. */
  const open = async (): Promise<EngineTable> => packageTable(await db.openTable("t", []));
  return {
    folder,
    db,
    open,
    /** Creates the table `t` as migrations do. */
    async create(columns: readonly Column[], rows: readonly RowValues[]): Promise<EngineTable> {
      await createTable({ uri: folder, folder }, "t", await ipcFile(columns, rows));
      return await open();
    },
    count: async (filter?: string): Promise<number> => await (await open()).countRows(filter),
    columns: async (): Promise<readonly Column[]> => await readColumns(await open()),
    close: () => db.close(),
  };
}

export const id: Column = { name: "id", type: { kind: "int64" }, nullable: true };
export const text: Column = { name: "text", type: { kind: "utf8" }, nullable: true };

export async function ipcFile(columns: readonly Column[], rows: readonly RowValues[]): Promise<Buffer> {
  const { rowsToIpcFile } = await import("../../wire/rows/write-rows.ts"); // Arrow is slow to load
  return rowsToIpcFile(columns, rows);
}

export async function append(table: EngineTable, columns: readonly Column[], rows: readonly RowValues[]) {
  return await addRows(table, await ipcFile(columns, rows), "append");
}

/** The error of a call that must fail; undefined if it succeeds. */
export async function errorOf(call: Promise<unknown>): Promise<unknown> {
  return await call.then(
    () => undefined,
    (error: unknown) => error ?? new Error("no error"),
  );
}

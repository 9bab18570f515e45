/** Rows of tables on the embedded engine. */
import type { RowValues } from "../../schema/row-values.ts";
import { createIndex } from "../../engine/indexes.ts";
import { allFiles, search, type QueryAnswer } from "../../engine/query.ts";
import { writeReadably } from "../../engine/checked-writes.ts";
import { nativeTable, packageTable, readColumns, type AnyTable } from "../../engine/engine.ts";
import { readIndexes } from "../../engine/read-indexes.ts";
import { addRows, deleteRows, mergeRows, updateRows } from "../../engine/write-rows.ts";
import type { NewValues, RowAccess } from "../contract/row-access.ts";
import type { Store } from "./store.ts";

export function lanceRows({ location, open, existing, create, drop, calling }: Store): RowAccess {
  const readably = async <Result extends { readonly version: number }>(
    table: string,
    write: (handle: AnyTable) => Promise<Result>,
  ): Promise<Result> => {
    const handle = await existing(table);
    return await writeReadably(handle, await readColumns(handle), () => write(handle));
  };
  return {
    columns: (table) =>
      calling(async () => {
        const handle = await open(table);
        return handle && (await readColumns(handle));
      }),
    indexes: (table) => calling(async () => await readIndexes(await existing(table), location.folder)),
    version: (table) => calling(async () => await (await open(table))?.version()),
    read: (table, { select, where, limit }) =>
      calling(async () => {
        const handle = await open(table);
        if (handle === undefined) return [];
        return await decode(await search(handle, { columns: select, filter: where, limit }));
      }),
    async *batches(table, { select, where, limit }) {
      const { batchesIn } = await import("../../wire/rows/read-values.ts");
      const handle = await calling(() => open(table));
      if (handle === undefined) return;
      const { first, others } = await calling(() => search(handle, { columns: select, filter: where, limit }));
      yield* batchesIn(first);
      try {
        for await (const file of others) yield* batchesIn(file);
      } catch (cause) {
        await calling(() => Promise.reject(cause));
      }
    },
    nearest: (table, { select, where, limit, column, vectors, distance, exact }) =>
      calling(async () => {
        const nearest = { vectors, column, distanceType: distance, bypassIndex: exact };
        // Otherwise the engine warns that it returns the distance too.
        const columns = [...select, ["_distance", "_distance"] as const];
        return await decode(await search(await existing(table), { columns, filter: where, limit, nearest }));
      }),
    update: (table, key, values, condition) =>
      calling(async () => {
        // With an index on the key, the engine can't evaluate the condition (docs/internals/engine.md).
        const merge = { on: [key], update: condition, useIndex: false };
        const file = await encode(values);
        return (await readably(table, (handle) => mergeRows(handle, merge, file))).numUpdatedRows;
      }),
    setNull: (table, columns, where) =>
      calling(async () => {
        const values = columns.map((column) => [column, "null"] as const);
        await readably(table, (handle) => updateRows(handle, values, where));
      }),
    append: (table, values) =>
      calling(async () => {
        const { free } = await import("../../wire/rows/write-rows.ts");
        const handle = await open(table);
        const file = await encode(values);
        if (handle === undefined) await create(table, file);
        else await addRows(handle, file, "append");
        free(file);
      }),
    indexColumn: (table, column) =>
      calling(async () => {
        await createIndex(packageTable(nativeTable(await existing(table))), { column, kind: "btree", options: {} });
      }),
    delete: (table, where) => calling(async () => void (await deleteRows(await existing(table), where))),
    drop: (table) =>
      calling(async () => {
        if ((await open(table)) !== undefined) await drop(table);
      }),
    files: (table) => ({ uri: `${location.uri}/${table}.lance`, options: location.storageOptions }),
  };
}

async function encode({ columns, rows, fields }: NewValues): Promise<Buffer> {
  const { rowsToIpcFile } = await import("../../wire/rows/write-rows.ts");
  return rowsToIpcFile(columns, rows, { fields });
}

async function decode(found: QueryAnswer): Promise<readonly RowValues[]> {
  const { rowsIn } = await import("../../wire/rows/read-values.ts");
  return rowsIn(await allFiles(found));
}

/** Routes for rows: inserting, merging, counting, updating, deleting. */
import { z } from "zod";
import { writeReadably } from "../../../engine/checked-writes.ts";
import { readColumns } from "../../../engine/engine.ts";
import { addRows, mergeRows, updateRows } from "../../../engine/write-rows.ts";
import { invalidInput } from "../tables/error-answer.ts";
import { checkNewTable } from "../tables/new-columns.ts";
import { checkOut, tableProperties } from "./tables.ts";
import { ignored, json, only, parameters } from "./fields.ts";
import {
  alone,
  committed,
  flagParameter,
  optional,
  routesOf,
  shared,
  sql,
  sqlParameter,
  textParameter,
  versionOrTag,
} from "./route.ts";

const { route, read, write, change } = routesOf("rows");

const writeInParts = only([], "writes in several parts");
const predicate = sql.min(1, "must not be empty");

export const rowRoutes = [
  route({
    path: "/v1/table/:name/insert",
    summary: "Append the rows of an Arrow IPC stream, or put them in the place of all rows",
    accepts: "arrow",
    query: parameters({ mode: textParameter.optional() }, { upload_id: writeInParts, upload_part_id: writeInParts }),
    answer: committed,
    locks: ({ name, query }) => (modeOf(query).toLowerCase() === "append" ? shared(name) : alone(name)),
    handler: async ({ tables, name, query, arrow }) => {
      const mode = modeOf(query).toLowerCase();
      if (mode !== "append" && mode !== "overwrite")
        throw invalidInput(`mode ${JSON.stringify(query.mode)} is not append or overwrite`);
      const { bytes, columns, rows } = arrow();
      const isAppend = mode === "append";
      if (!isAppend) checkNewTable(columns, name);
      return await tables.write(name, async (table) => ({
        version: await addRows(table, bytes, mode),
        num_inserted_rows: rows,
      }));
    },
  }),
  // Alone, so that no other request's rows arrive between the read and the write of one merge. An index brings none.
  change({
    path: "/v1/table/:name/merge_insert",
    locks: ({ name }) => [{ table: name, alone: true, besideGuest: true }],
    summary: "Update, insert and delete rows by how those of an Arrow IPC stream match",
    accepts: "arrow",
    query: parameters(
      {
        on: z.union([z.string(), z.array(z.string())], "must name a column"),
        when_matched_update_all: flagParameter.optional(),
        when_matched_update_all_filt: sqlParameter.optional(),
        when_not_matched_insert_all: flagParameter.optional(),
        when_not_matched_by_source_delete: flagParameter.optional(),
        when_not_matched_by_source_delete_filt: sqlParameter.optional(),
        use_index: flagParameter.optional(),
      },
      // The service has no write-ahead log. A merge ends within --work-timeout.
      { use_lsm: ignored, timeout: ignored },
    ),
    answer: committed,
    handler: async (table, { query, arrow }) => {
      const { bytes } = arrow();
      const merge = {
        on: [query.on].flat(),
        update: query.when_matched_update_all === true && (query.when_matched_update_all_filt ?? true),
        insert: query.when_not_matched_insert_all,
        delete:
          query.when_not_matched_by_source_delete === true && (query.when_not_matched_by_source_delete_filt ?? true),
        useIndex: query.use_index,
      };
      const columns = await readColumns(table);
      const counts = await writeReadably(table, columns, () => mergeRows(table, merge, bytes));
      return {
        version: counts.version,
        num_inserted_rows: counts.numInsertedRows,
        num_updated_rows: counts.numUpdatedRows,
        num_deleted_rows: counts.numDeletedRows,
        num_attempts: counts.numAttempts,
        num_rows: counts.numRows,
      };
    },
  }),
  read({
    path: "/v1/table/:name/count_rows",
    summary: "The number of rows, of those that a filter lets through",
    body: json({ predicate: optional(sql), filter: optional(sql), ...versionOrTag }),
    answer: z.int(),
    handler: async (table, { body }) => {
      await checkOut(table, body);
      return await table.countRows(body.predicate ?? body.filter);
    },
  }),
  write({
    path: "/v1/table/:name/update",
    summary: "Set columns of the rows that a filter lets through to SQL expressions",
    body: json(
      {
        predicate: optional(sql),
        updates: z
          .array(z.tuple([z.string(), sql]), "must be an array of pairs: column and expression")
          .min(1, "must name a column"),
      },
      { properties: tableProperties },
    ),
    answer: committed.extend({ rows_updated: z.int(), updated_rows: z.int() }),
    handler: async (table, { body }) => {
      const update = () => updateRows(table, body.updates, body.predicate);
      const { version, rowsUpdated } = await writeReadably(table, await readColumns(table), update);
      // LanceDB's clients read the first name, those of the namespace the second.
      return { version, rows_updated: rowsUpdated, updated_rows: rowsUpdated };
    },
  }),
  write({
    path: "/v1/table/:name/delete",
    summary: "Delete the rows that a filter lets through",
    body: json({ predicate }),
    answer: committed.extend({ num_deleted_rows: z.int() }),
    handler: async (table, { body }) => {
      const { version, numDeletedRows } = await table.delete(body.predicate);
      return { version, num_deleted_rows: numDeletedRows };
    },
  }),
];

function modeOf({ mode = "append" }: { readonly mode?: unknown }): string {
  return String(mode);
}

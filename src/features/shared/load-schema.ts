/** Evaluates `schema.ts`, which declares the tables that an application wants. */
import { existsSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import { z } from "zod";
import { catchMigrateError, MigrateError } from "../../errors/migrate-error.ts";
import type { Action } from "../../actions/model/action.ts";
import { applyActions } from "../../actions/apply-action.ts";
import { indexType } from "../../schema/declare/index-options.ts";
import { declaredColumn, schemaMetadata } from "../../schema/declare/validate.ts";
import type { Database, Table } from "../../schema/table.ts";
import { indexName } from "../../steps/kinds/tables/create-index.ts";
import { textHash } from "../../migrations/checksum.ts";
import { evaluate, importProblem, withoutSource } from "../../migrations/evaluate.ts";

const shape = z.strictObject(
  {
    tables: z.array(
      z.tuple([
        z.string(),
        z.strictObject({
          columns: z.array(declaredColumn, "must be an object of columns").min(1, "must have at least one column"),
          indexes: z
            .array(
              z.strictObject(
                {
                  on: z.string("must be a column"),
                  type: indexType,
                  name: z.string().min(1, "must be the name of an index").optional(),
                },
                "must be { on, type }",
              ),
              "must be a list of indexes",
            )
            .optional(),
          metadata: schemaMetadata.optional(),
        }),
      ]),
      "must be made by defineSchema",
    ),
  },
  "must be made by defineSchema",
);

/**
 * The declared tables. A table has no `indexes` if its declaration has none. Throws ERR_SCHEMA_MISSING,
 * ERR_SCHEMA_INVALID.
 */
export async function loadSchema(path: string, seconds?: number): Promise<Database> {
  const file = basename(path);
  if (!existsSync(path)) throw new MigrateError("ERR_SCHEMA_MISSING", { file: path });
  const url = `${pathToFileURL(path).href}?${textHash(readFileSync(path, "utf8")).slice(0, 16)}`;
  let module: { readonly default?: unknown };
  try {
    module = (await evaluate(url, seconds)) as typeof module;
  } catch (cause) {
    throw new MigrateError("ERR_SCHEMA_INVALID", { file, problem: importProblem(cause, url) }, withoutSource(cause));
  }
  const { data, error } = shape.safeParse(module.default);
  if (data === undefined) {
    const { path: at, message } = error.issues[0]!;
    const words = describePath(module.default, at);
    const place = words.length > 2 ? `${[words[1], ...words.slice(3)].join(".")} ` : "its default export ";
    throw new MigrateError("ERR_SCHEMA_INVALID", { file, problem: `${place}${message}` });
  }
  const database = new Map<string, Table>();
  for (const [name, { columns, indexes, metadata }] of data.tables) {
    const apply = (action: Action, words = "") =>
      catchMigrateError(
        () => applyActions(database, [action]),
        (cause) => {
          throw new MigrateError("ERR_SCHEMA_INVALID", { file, problem: `${words}${cause.message}` }, { cause });
        },
      );
    apply({ kind: "createTable", table: name, columns, ...(metadata && { metadata }) });
    const taken = new Set<string>();
    for (const { on, type, name: own = indexName(on) } of indexes ?? []) {
      if (taken.has(own)) {
        const problem = `${name} has two indexes with the name ${own}; give one of them another name, or remove it`;
        throw new MigrateError("ERR_SCHEMA_INVALID", { file, problem });
      }
      taken.add(own);
      apply({ kind: "createIndex", table: name, name: own, index: { path: on, ...type } }, `the index on ${on}: `);
    }
    if (indexes?.length === 0) database.set(name, { ...database.get(name)!, indexes: {} });
  }
  return database;
}

/** A path in the exported value, with names of tables and columns in place of array positions. */
function describePath(whole: unknown, path: readonly PropertyKey[]): readonly string[] {
  let at = whole;
  return path.map((key) => {
    at = (at as Readonly<Record<PropertyKey, unknown>> | null | undefined)?.[key];
    const name = Array.isArray(at) ? (at as readonly unknown[])[0] : (at as { readonly name?: unknown } | null)?.name;
    return typeof key === "number" && typeof name === "string" && name !== "" ? name : String(key);
  });
}

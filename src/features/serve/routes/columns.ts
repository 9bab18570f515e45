/** Routes for columns: altering, adding, dropping, and their metadata. */
import { z } from "zod";
import { alterReadably, dropColumns } from "../../../engine/checked-writes.ts";
import { alterColumns, readColumns, type EngineTable } from "../../../engine/engine.ts";
import { resultColumns } from "../../../engine/query.ts";
import { addNullColumns } from "../../../engine/write-rows.ts";
import { isMigrateError } from "../../../errors/migrate-error.ts";
import { checkAdded } from "../../../actions/kinds/columns/add-columns.ts";
import { applyAlterations } from "../../../actions/rewrite/apply-alterations.ts";
import type { Alteration } from "../../../actions/model/alteration.ts";
import { formatType, ownValue, sameType, type Column } from "../../../schema/data-type.ts";
import { formatPath, parsePath } from "../../../schema/path.ts";
import { extensionIn, reservedProblem } from "../../../schema/reserved-metadata.ts";
import { findColumn } from "../../../schema/table.ts";
import { withWholeStructs } from "../../../actions/rewrite/retype-whole-structs.ts";
import { parseDataType } from "../../../wire/lance/parse-lance-type.ts";
import { invalidInput, refuse, unsupported } from "../tables/error-answer.ts";
import { checkSent, checkTypes } from "../tables/new-columns.ts";
import { json, object, only } from "./fields.ts";
import { committed, flag, optional, routesOf, sql, text } from "./route.ts";

const { change } = routesOf("columns");

const length = z.int().nullish();
const fields: z.ZodType = z.lazy(() =>
  z.array(
    object({
      name: z.string(),
      type: typeForm,
      nullable: flag.nullish(),
      metadata: z.record(z.string(), z.string()).nullish(),
    }),
  ),
);
/** A type as clients write it, by name or with its parts. */
const typeForm = z.union(
  [z.string(), object({ type: z.string(), fields: fields.nullish(), length, listSize: length, list_size: length })],
  'must be a type such as {"type":"int64"}',
);

const dataType = typeForm.transform((written, context) => {
  const type = parseDataType(written);
  if (type !== undefined) return type;
  context.addIssue({
    code: "custom",
    message: `${JSON.stringify(written).slice(0, 200)} is no type that this service knows`,
  });
  return z.NEVER;
});

const alterations = z.array(
  object({
    path: text.min(1, "must name a column"),
    rename: optional(text),
    data_type: optional(dataType),
    nullable: optional(flag),
    virtual_column: z.unknown().optional(),
  }),
  "must be an array of alterations",
);

const newColumns = z.array(
  object({
    name: text,
    expression: optional(sql),
    computed: optional(text),
    virtual_column: z.unknown().optional(),
  }),
  "must be an array of columns",
);

export const columnRoutes = [
  change({
    path: "/v1/table/:name/alter_columns",
    summary: "Rename columns, change their types, let them hold nulls or not; all at once or not at all",
    body: json({ alterations }),
    answer: z.union([committed, z.strictObject({})]),
    handler: async (table, { name, body, protocol }) => {
      if (body.alterations.some(({ virtual_column: virtual }) => virtual !== undefined && virtual !== null))
        throw unsupported("virtual columns");
      const wanted = body.alterations.map(({ path, rename, data_type: type, nullable }) => ({
        path,
        rename,
        type,
        nullable,
      }));
      const version = await alter(name, table, wanted);
      // The service's document promises an empty object; the namespace and LanceDB's clients want the version.
      return protocol === "document" ? {} : { version };
    },
  }),
  change({
    path: "/v1/table/:name/add_columns",
    summary: "Add columns by SQL expressions, or all null from an Arrow schema",
    accepts: "either",
    body: json({ new_columns: newColumns.optional() }, { function: only([], "functions") }),
    answer: committed,
    handler: async (table, { name, body, arrow, hasArrow }) => {
      const before = await readColumns(table);
      if (hasArrow) {
        const { bytes, columns } = arrow();
        refusingTwins(() => checkAdded(before, columns, name));
        checkSent(columns);
        return { version: await addNullColumns(table, bytes) };
      }
      const added = addedColumns(body);
      refusingTwins(() => checkAdded(before, added.map(ofAnyType), name));
      const selected = added.map((column) => [column.name, column.valueSql] as const);
      // With the row id, because the engine does not plan a query of constants alone.
      checkTypes(await resultColumns(table, { columns: selected, withRowId: true }));
      return { version: (await table.addColumns(added)).version };
    },
  }),
  change({
    path: "/v1/table/:name/drop_columns",
    summary: "Drop columns and their data",
    body: json({ columns: z.array(text, "must be an array of column paths").min(1, "must name a column") }),
    answer: committed,
    handler: async (table, { name, body }) => {
      const columns = await readColumns(table);
      for (const path of body.columns) known(name, columns, path);
      return { version: await dropColumns(table, body.columns) };
    },
  }),
  change({
    path: "/v1/table/:name/update_field_metadata",
    summary: "Set, remove or replace the metadata of columns",
    body: json({
      updates: z.array(
        object({
          path: text,
          metadata: z.record(z.string(), z.string().nullable(), "must be an object of texts and nulls"),
          replace: optional(flag),
        }),
        "must be an array of updates",
      ),
    }),
    answer: committed,
    handler: async (table, { name, body }) => {
      const columns = await readColumns(table);
      for (const update of body.updates) checkMetadata(known(name, columns, update.path), update);
      const updates = body.updates.map(({ path, metadata, replace }) => ({ path, metadata, replace }));
      const change = async () => (await table.updateFieldMetadata(updates)).version;
      return { version: await alterReadably(table, columns, change) };
    },
  }),
];

/** Throws if the engine could not read or write the table any more. */
function checkMetadata(
  { metadata: before = {} }: Column,
  { metadata, replace }: { readonly metadata: Readonly<Record<string, string | null>>; readonly replace?: boolean },
): void {
  const gone = replace === true ? Object.keys(before).filter((key) => !Object.hasOwn(metadata, key)) : [];
  for (const [key, value] of [...Object.entries(metadata), ...gone.map((key) => [key, null] as const)]) {
    const was = ownValue(before, key) ?? null;
    const problem = value === was ? undefined : reservedProblem(key, value, was);
    if (problem !== undefined) throw invalidInput(problem);
  }
}

/** Alters a table. Throws what the engine refuses, and refuses what it would accept although it breaks the table. */
async function alter(name: string, table: EngineTable, wanted: readonly Alteration[]): Promise<number> {
  const columns = await readColumns(table);
  const seen = new Set<string>();
  const real: Alteration[] = [];
  const sent: Alteration[] = [];
  for (const alteration of wanted) {
    const column = known(name, columns, alteration.path);
    const path = formatPath(parsePath(alteration.path));
    if (seen.has(path))
      throw invalidInput(`column ${path} is altered twice in one call; put its changes into one entry`);
    seen.add(path);
    if (alteration.type !== undefined && extensionIn(column.type) !== undefined)
      throw invalidInput(`column ${path} is ${formatType(column.type)}, which can't be cast to another type`);
    const change = withoutIdentities(alteration, column);
    if (change !== undefined) real.push(change);
    // Alterations that change nothing are passed on too: the engine answers them with a new version. But it refuses to
    // cast a struct to its own type.
    const isCast = alteration.type !== undefined && !sameType(column.type, alteration.type);
    const { type, ...others } = alteration;
    sent.push(isCast || type === undefined ? alteration : { ...others, nullable: others.nullable ?? column.nullable });
  }
  checkAltered(name, columns, real);
  const change = () => alterColumns(table, withWholeStructs(columns, sent));
  return await alterReadably(table, columns, change);
}

/**
 * Throws for changes that the engine would accept although they break the table. What it refuses itself is left to it.
 */
function checkAltered(name: string, columns: readonly Column[], changes: readonly Alteration[]): void {
  try {
    refusingTwins(() => applyAlterations(name, { columns }, changes));
  } catch (error) {
    if (!isMigrateError(error, "ERR_CAST_REFUSED")) throw error;
  }
}

/** Refuses names that are taken, or differ only in case, in the words that clients look for. */
function refusingTwins(check: () => unknown): void {
  try {
    check();
  } catch (error) {
    if (isMigrateError(error, "ERR_COLUMN_DUPLICATE")) throw invalidInput(`Duplicate field name: ${error.message}`);
    throw error;
  }
}

/** The engine alone knows the type of an expression, and the check of names does not need it. */
function ofAnyType({ name }: { readonly name: string }): Column {
  return { name, type: { kind: "null" }, nullable: true };
}

/** The column at a path. Throws if there is none. */
function known(name: string, columns: readonly Column[], path: string): Column {
  const column = findColumn(columns, parsePath(path));
  if (column === undefined)
    throw refuse(400, "columnNotFound", `Column ${JSON.stringify(path)} does not exist in table '${name}'`);
  return column;
}

function withoutIdentities(alteration: Alteration, column: Column): Alteration | undefined {
  const rename = alteration.rename === column.name ? undefined : alteration.rename;
  const type = alteration.type === undefined || sameType(column.type, alteration.type) ? undefined : alteration.type;
  const nullable = alteration.nullable === column.nullable ? undefined : alteration.nullable;
  if (rename === undefined && type === undefined && nullable === undefined) return undefined;
  return { path: alteration.path, rename, type, nullable };
}

function addedColumns(body: {
  readonly new_columns?: z.output<typeof newColumns> | undefined;
}): { name: string; valueSql: string }[] {
  if (body.new_columns === undefined) throw invalidInput("new_columns must be an array of columns");
  return body.new_columns.map(({ name, expression, computed, virtual_column: virtual }) => {
    if (computed !== undefined || (virtual !== undefined && virtual !== null)) throw unsupported("computed columns");
    if (expression === undefined) throw invalidInput(`column ${name} needs an expression`);
    return { name, valueSql: expression };
  });
}

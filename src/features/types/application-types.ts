/** Generates types for an application: of rows as @lancedb/lancedb returns them, and Arrow schemas. Pure. */
import { enginePackage } from "../../engine/package/engine-package.ts";
import type { Column } from "../../schema/data-type.ts";
import { call } from "../../schema/text/typescript-source.ts";
import type { Database } from "../../schema/table.ts";
import { fieldSource, hasArrow, helpers } from "./arrow-source.ts";
import { namesIn } from "../shared/print-source.ts";
import { namer } from "./print/type-names.ts";
import { inputName, inputSource, rowSchemaHelpers } from "./row-schemas.ts";
import { constSource, rowTypes, type RowForm } from "./row-types.ts";
import { layOutType, type NamedType, type TypeMember } from "./print/print-type.ts";

/** The beginning of every file that `migrate types` writes. */
export const writtenMark = "// Written by migrate types; do not edit.";

/** `template` is the text of templates/row-schemas.ts, if schemas that check new rows are wanted. */
export function applicationTypes(database: Database, template?: string): string {
  const nameOf = namer();
  const tables = [...database].toSorted(([one], [other]) => (one < other ? -1 : 1));
  const named = tables.map(([table, { columns }]) => ({ table, columns, name: nameOf(table) }));
  const known = named.filter(({ columns }) => columns.every(({ type }) => hasArrow(type)));
  // A nested type must not have the name of another table's row type.
  const inner = namer(known.flatMap(({ name }) => [`${name}Row`, inputName(name)]));
  const used = new Set<string>();
  const schemas = known.map(({ name, columns }) => {
    let dictionaries = 0;
    const fields = columns.map((column) => fieldSource(column, () => dictionaries++));
    const source = call("schema", { kind: "array", items: fields });
    for (const helper of namesIn(source)) used.add(helper);
    return constSource(`${name}Schema`, "SchemaLike", source);
  });
  const body = known.flatMap(({ table, name, columns }, index) => [
    ...rowTypes(readRow, `${name}Row`, `A row of ${table}, as @lancedb/lancedb gives it.`, columns, inner),
    schemas[index]!,
    ...(template === undefined ? [] : inputSource(table, name, columns, inner)),
  ]);
  const left = named.filter((one) => !known.includes(one)).map(({ table }) => leftOut(table));
  const map = known.map(({ table, name }): TypeMember => [table, { name: `${name}Row` }]);
  const isVector = body.some((part) => /\bVector</.test(part));
  return [
    `${writtenMark} Rows and schemas of the tables after the last migration.\n`,
    ...(used.size === 0 ? [] : [`import type { SchemaLike } from "${enginePackage}";\n`]),
    ...(isVector ? [vector] : []),
    ...(body.some((part) => /\bBlobPlace\b/.test(part)) ? [blobPlace] : []),
    ...Object.entries(helpers).flatMap(([name, text]) => (used.has(name) ? [text] : [])),
    ...(template === undefined || known.length === 0 ? [] : [rowSchemaHelpers(template)]),
    ...body,
    ...left,
    `/** Rows by the names of their tables. */\nexport ${interfaceOf("Tables", map)}\n`,
  ].join("\n");
}

const vector = `/** A list, which the client gives as a Vector of apache-arrow. */
export interface Vector<Value> extends Iterable<Value | null> {
  readonly length: number;
  get(index: number): Value | null;
  /** Numbers as a typed array, such as Float32Array. */
  toArray(): ArrayLike<Value> & Iterable<Value>;
  toJSON(): unknown[];
}
`;

const blobPlace = `/** The place of a blob, as a query returns it. The client's fetchBlobs reads the bytes. */
export interface BlobPlace {
  readonly kind: number;
  readonly position: bigint;
  readonly size: bigint;
  readonly blob_id: number;
  readonly blob_uri: string;
}
`;

function leftOut(table: string): string {
  return `// ${table} is left out: it holds a largeList, and the JavaScript client opens no such table.\n`;
}

/** Rows as the client gives them (test/e2e/application-types.test.ts). */
const readRow: RowForm = {
  declare: interfaceOf,
  has: () => true,
  // The engine refuses other values than its own in a computed column.
  member: (column, value) => [
    column.name,
    nullableType(column, value),
    column.computed === undefined ? undefined : "readonly",
  ],
  list: (_, value) => ({ name: "Vector", of: value }),
  // Dates and timestamps are milliseconds.
  values: {
    null: "null",
    int64: "bigint",
    uint64: "bigint",
    time64: "bigint",
    duration: "bigint",
    blob: "BlobPlace",
  },
};

function nullableType({ nullable }: Column, source: NamedType): NamedType {
  return nullable && !["null", "never"].includes(source.name) ? { ...source, orNull: true } : source;
}

function interfaceOf(name: string, members: readonly TypeMember[]): string {
  return `interface ${name} ${layOutType({ lines: members }, 0, 0)}`;
}

/** Generates models and schemas of the tables for a Python application. Pure. */
import { childColumns, typesWithin, type Column } from "../../schema/data-type.ts";
import { extensionIn, extensionName } from "../../schema/reserved-metadata.ts";
import type { Database } from "../../schema/table.ts";
import { namer } from "./print/type-names.ts";
import { fieldNameProblem } from "./python-field-names.ts";
import { annotation, arrowField, pythonText } from "./python-type.ts";

/** The beginning of every Python file that `migrate types` writes. */
export const pythonMark = "# Written by migrate types; do not edit.";

export function pythonModels(database: Database): string {
  const tables = [...database].toSorted(([one], [other]) => (one < other ? -1 : 1));
  const classOf = namer(knownNames);
  const named = tables.map(([table, { columns }]) => ({ table, columns, name: classOf(table) }));
  // The class of a struct must have the name of no table's class, and of no field, which would hide it.
  const inner = namer([...knownNames, ...named.map(({ name }) => name), ...named.flatMap(capitalNames)]);
  const parts = named.map((one) => tableSource(one, inner));
  return [header(parts.join("\n")), ...parts].join("\n\n");
}

const knownNames = ["False", "LanceModel", "None", "Optional", "True", "Vector"];

function header(body: string): string {
  const modules = ["datetime", "decimal"].filter((name) => body.includes(`${name}.`)).map((name) => `import ${name}\n`);
  const typing = body.includes("Optional[") ? ["from typing import Optional\n"] : [];
  const models = [
    ...(body.includes("(LanceModel)") ? ["LanceModel"] : []),
    ...(body.includes("Vector(") ? ["Vector"] : []),
  ];
  const standard = [...modules, ...typing].join("");
  const others = [
    "import pyarrow as pa\n",
    ...(models.length === 0 ? [] : [`from lancedb.pydantic import ${models.join(", ")}\n`]),
    ...(body.includes("blob(") ? ["from lancedb.schema import blob\n"] : []),
  ].join("");
  const mark = `${pythonMark} Models and schemas of the tables after the last migration.\n`;
  return [mark, standard, others].filter((part) => part !== "").join("\n");
}

interface NamedTable {
  readonly table: string;
  readonly columns: readonly Column[];
  /** Of its class. */
  readonly name: string;
}

/** What the file lacks, one sentence for each such table. It has them as comments too. */
export function tablesWithoutModel(database: Database): readonly string[] {
  return [...database].flatMap(([table, { columns }]) => noModel(table, columns)?.sentence ?? []);
}

function noModel(
  table: string,
  columns: readonly Column[],
): { readonly sentence: string; readonly hasSchema: boolean } | undefined {
  if (columns.some(({ type }) => typesWithin(type).some(({ kind }) => kind === "unknown")))
    return {
      sentence: `${table} is left out: it has a column of a type that lance-migrate does not know`,
      hasSchema: false,
    };
  const inside = columns.find(({ type }) => extensionName(type) === undefined && extensionIn(type) !== undefined);
  const problem =
    inside === undefined
      ? modelProblem(columns)
      : `pyarrow can't make ${extensionIn(inside.type)} inside ${pythonText(inside.name)} from Python values`;
  return problem === undefined ? undefined : { sentence: `${table} has no model: ${problem}`, hasSchema: true };
}

function tableSource({ table, columns, name }: NamedTable, nameOf: (text: string) => string): string {
  const missing = noModel(table, columns);
  if (missing?.hasSchema === false) return `# ${missing.sentence}.\n`;
  const schema = `${snakeCase(name)}_schema`;
  const fields = columns.map((column) => `        ${arrowField(column)},\n`);
  const declared = `${schema} = pa.schema(\n    [\n${fields.join("")}    ]\n)\n`;
  if (missing !== undefined) return `# ${missing.sentence}.\n${declared}`;
  const stored = columns.filter(({ computed }) => computed === undefined);
  if (stored.length === columns.length)
    return [declared, ...models(name, `A row of ${table}.`, columns, nameOf, method(schema))].join("\n\n");
  // The client refuses a row that contains a computed column.
  const written = `pa.schema([field for field in ${schema} if field.name in cls.model_fields])`;
  const computed = columns.filter((column) => !stored.includes(column));
  const row = `A row of ${table} as it is read, with its computed columns.`;
  return [
    declared,
    ...models(name, `A new row of ${table}.`, stored, nameOf, method(written)),
    ...models(nameOf(`${name}Row`), row, computed, nameOf, "", name),
  ].join("\n\n");
}

/** `MyNotes` as `my_notes`. */
function snakeCase(name: string): string {
  return [...name]
    .map((letter, at) => `${at > 0 && letter !== letter.toLowerCase() ? "_" : ""}${letter.toLowerCase()}`)
    .join("");
}

function method(schema: string): string {
  return `\n    @classmethod\n    def to_arrow_schema(cls) -> pa.Schema:\n        return ${schema}\n`;
}

/** The source of a model, and before it those of the structs in it. */
function models(
  name: string,
  comment: string,
  columns: readonly Column[],
  nameOf: (text: string) => string,
  end = "",
  base = "LanceModel",
): readonly string[] {
  const inside: string[] = [];
  const modelOf = (fields: readonly Column[], place: string) => {
    const own = nameOf(place);
    inside.push(...models(own, `Of ${name}.`, fields, nameOf));
    return own;
  };
  const members = columns.map((column) => {
    const type = annotation(column, modelOf, `${name} ${column.name}`);
    return `    ${column.name}: ${type}${column.nullable ? " = None" : ""}\n`;
  });
  const body = members.length === 0 ? "" : `\n${members.join("")}`;
  return [...inside, `class ${name}(${base}):\n    """${comment}"""\n${body}${end}`];
}

/** Why there can be no model with these columns, or with those inside them. */
function modelProblem(columns: readonly Column[]): string | undefined {
  const words = new Set(["blob", "classmethod", "pa", ...columns.flatMap(wordsOf)]);
  for (const column of columns) {
    const { name, nullable, type } = column;
    // In a class, the default of a field is what later annotations find under its name.
    const hides = nullable && words.has(name) ? "it would hide what the types of other fields need" : undefined;
    const problem = fieldNameProblem(name) ?? hides;
    if (problem !== undefined) return `${pythonText(name)} can't be the name of a field, because ${problem}`;
    const inside = modelProblem(fieldsWithin(type));
    if (inside !== undefined) return inside;
  }
  return undefined;
}

/** The names that an annotation looks up: of `datetime.date` only `datetime`. */
function wordsOf(column: Column): readonly string[] {
  const words = annotation(column, () => "", "").split(/[^A-Za-z.]/);
  return words.map((word) => word.split(".", 1)[0]!);
}

/** The fields of the structs in a type, without those of structs in them. */
function fieldsWithin(type: Column["type"]): readonly Column[] {
  if (type.kind === "struct") return type.fields;
  return childColumns(type).flatMap((item) => fieldsWithin(item.type));
}

/** The names of columns and fields that begin as those of classes do. */
function capitalNames({ columns }: { readonly columns: readonly Column[] }): readonly string[] {
  return columns.flatMap(({ name, type }) => [
    ...(name.slice(0, 1) === name.slice(0, 1).toLowerCase() ? [] : [name]),
    ...capitalNames({ columns: fieldsWithin(type) }),
  ]);
}

/** The contract of an application: the tables and columns that one release of it reads and writes. Pure. */
import { catchMigrateError, MigrateError } from "../../../errors/migrate-error.ts";
import {
  exactObject,
  filledText,
  oneOf,
  optional,
  recordOf,
  text,
  yesOrNo,
  type Check,
} from "../../../checks/check.ts";
import { childColumns, formatType, sameType, type Column, type DataType } from "../../../schema/data-type.ts";
import { formatPath, parsePath, type Path } from "../../../schema/path.ts";
import { findColumn, type Table } from "../../../schema/table.ts";
import { typeNotation } from "../../shared/format-notation.ts";
import { notationOf } from "../../../schema/text/parse-notation.ts";

export interface Contract {
  /** Its file, for messages. */
  readonly file: string;
  readonly application: string;
  readonly release: string;
  readonly tables: ReadonlyMap<string, ContractTable>;
}

export interface ContractTable {
  readonly reads: readonly NeededColumn[];
  readonly writes: readonly NeededColumn[];
  /** Whether it adds rows, so that a column that it does not write must be nullable. */
  readonly appends: boolean;
}

export interface NeededColumn {
  readonly path: Path;
  /** Undefined if any type will do. */
  readonly type: DataType | undefined;
  readonly nullable: boolean;
}

/** A contract as its file contains it. */
export interface ContractDocument {
  /** For editors: the path of docs/reference/contract.schema.json. */
  readonly $schema?: string | undefined;
  readonly format: 1;
  readonly application: string;
  readonly release: string;
  /** The last migration that the application was written for. */
  readonly migrations?: string | undefined;
  readonly tables: Readonly<Record<string, TableDocument>>;
}

export interface TableDocument {
  /** Types by the paths of columns. */
  readonly reads?: Readonly<Record<string, string>> | undefined;
  readonly writes?: Readonly<Record<string, string>> | undefined;
  readonly appends?: boolean | undefined;
}

const types = optional(recordOf(filledText('must be a type such as "utf8 not null"'), "must be an object of types"));

const documentCheck: Check = exactObject(
  {
    $schema: optional(text("must be the path of a JSON schema")),
    format: oneOf([1], "must be 1"),
    application: filledText("must be the name of the application"),
    release: filledText("must be the name of the release"),
    migrations: optional(text("must be the name of a migration")),
    tables: recordOf(
      exactObject(
        { reads: types, writes: types, appends: optional(yesOrNo) },
        "must be an object with reads and writes",
      ),
      "must be an object of tables",
    ),
  } satisfies Record<keyof ContractDocument, Check>,
  "must be an object",
);

/** Checks what a contract's file contains. Throws ERR_CONTRACT_INVALID. */
export function parseContract(value: unknown, file: string): Contract {
  const refuse = (problem: string): never => {
    throw new MigrateError("ERR_CONTRACT_INVALID", { file, problem: `is not valid: ${problem}` });
  };
  const [wrong] = documentCheck(value);
  if (wrong !== undefined) refuse(`${wrong.path.join(".") || "it"} ${wrong.message}`);
  const { application, release, tables } = value as ContractDocument;
  const columns = (table: string, given: TableDocument["reads"] = {}) =>
    Object.entries(given).map(([path, type]) =>
      catchMigrateError(
        () => ({ path: parsePath(path), ...parseType(type) }),
        ({ message, details }) =>
          refuse(`tables.${table}, ${path}: ${"problem" in details ? String(details.problem) : message}`),
      ),
    );
  const parsed = Object.entries(tables).map(([table, { reads, writes, appends = false }]) => {
    if (appends && writes === undefined) refuse(`tables.${table} appends rows and states no writes`);
    return [table, { reads: columns(table, reads), writes: columns(table, writes), appends }] as const;
  });
  return { file, application, release, tables: new Map(parsed) };
}

/** Stands for any type. */
const anyType = "any";

function parseType(text: string): Pick<NeededColumn, "type" | "nullable"> {
  const notation = notationOf(text, "type", "TYPE [not null]");
  const isAny = notation.takes(anyType);
  const type = isAny ? { type: undefined, nullable: !notation.takes("not null") } : notation.type();
  notation.end();
  return type;
}

/** The type of a column as a contract states it. */
export function contractType({ type, nullable }: Pick<Column, "type" | "nullable">): string {
  const written = typeNotation(type);
  const isKnown = catchMigrateError(
    () => sameForClients(parseType(written).type!, type),
    () => false,
  );
  return `${isKnown ? written : anyType}${nullable ? "" : " not null"}`;
}

/** Whether two types are equal but for the names of the items of lists, which no client uses. */
function sameForClients(one: DataType, other: DataType): boolean {
  return sameType(withoutItemNames(one), withoutItemNames(other));
}

function withoutItemNames(type: DataType): DataType {
  switch (type.kind) {
    case "list":
    case "largeList":
    case "fixedSizeList":
      return { ...type, item: { ...type.item, name: "item", type: withoutItemNames(type.item.type) } };
    case "struct":
      return { ...type, fields: type.fields.map((field) => ({ ...field, type: withoutItemNames(field.type) })) };
    default:
      return type;
  }
}

/** What an application does with a column. */
export type Use = "reads" | "writes";

/** Why a column of the table does not allow this use, as the rest of a sentence; undefined if it does. */
export function problemOfColumn(table: Table | undefined, needed: NeededColumn, use: Use): string | undefined {
  const found = table && findColumn(table.columns, needed.path);
  if (table === undefined || found === undefined) return "does not exist";
  if (use === "writes" && found.computed !== undefined) return "is a computed column, which the engine fills itself";
  const type = needed.type ?? found.type;
  // A field of a struct that is null has no value either.
  const around = needed.path
    .slice(0, -1)
    .map((_, index) => findColumn(table.columns, needed.path.slice(0, index + 1))!);
  const nullable = found.nullable || (use === "reads" && around.some((one) => one.nullable));
  return problemOfValues({ ...found, type, nullable: needed.nullable }, { ...found, nullable }, use);
}

/** The same with the column and what the contract states about it, to follow "reads" or "writes". */
export function unusable(table: string, found: Table | undefined, needed: NeededColumn, use: Use): string | undefined {
  const problem = problemOfColumn(found, needed, use);
  if (problem === undefined) return undefined;
  const place = columnLabel(table, needed.path);
  const { type, nullable } = needed;
  const column = found && findColumn(found.columns, needed.path);
  // The type does not matter for a column that does not exist or that the engine fills.
  const isOfType = column !== undefined && (use === "reads" || column.computed === undefined);
  return type !== undefined && isOfType
    ? `${place} as ${contractType({ type, nullable })}, but it ${problem}`
    : `${place}, which ${problem}`;
}

function problemOfValues(needed: Column, found: Column, use: Use): string | undefined {
  if (use === "reads" && !needed.nullable && found.nullable) return "is nullable";
  if (use === "writes" && needed.nullable && !found.nullable) return "is not null";
  return problemOfType(needed.type, found.type, use);
}

/** A struct may have more fields than an application knows, if that does not have to write them. */
function problemOfType(needed: DataType, found: DataType, use: Use): string | undefined {
  if (needed.kind === "struct" && found.kind === "struct") return problemOfFields(needed.fields, found.fields, use);
  const [inner, outer] = [childColumns(needed)[0], childColumns(found)[0]];
  const isSame =
    inner === undefined || outer === undefined || needed.kind === "struct"
      ? sameForClients(needed, found)
      : sameForClients({ ...needed, item: outer } as DataType, found);
  if (!isSame) return `is ${formatType(found)}`;
  const inside = inner && outer && problemOfValues(inner, outer, use);
  return inside === undefined ? undefined : `has an item that ${inside}`;
}

function problemOfFields(needed: readonly Column[], found: readonly Column[], use: Use): string | undefined {
  for (const field of needed) {
    const other = found.find(({ name }) => name === field.name);
    if (other === undefined) return `has no field ${field.name}`;
    const problem = problemOfValues(field, other, use);
    if (problem !== undefined) return `has a field ${field.name} that ${problem}`;
  }
  const written = needed.map(({ name }) => [name]);
  const missing = use === "writes" ? required(found, written) : undefined;
  return missing === undefined ? undefined : `has a field ${missing} that is not null`;
}

/** The paths of what an application uses in a column: its own, and those of the fields in it. */
export function pathsWithin(found: Column, { path, type }: Pick<NeededColumn, "path" | "type">): readonly Path[] {
  const inside = childColumns(found.type).flatMap((child) => {
    const known = type && childColumns(type);
    const needed = type?.kind === "struct" ? known?.find(({ name }) => name === child.name) : known?.[0];
    const isUsed = type === undefined || needed !== undefined;
    return isUsed ? pathsWithin(child, { path: [...path, child.name], type: needed?.type }) : [];
  });
  return [path, ...inside];
}

/** A column or a field that each new row needs, and this application does not write; undefined if there is none. */
export function columnNotWritten({ columns }: Table, { writes }: ContractTable): string | undefined {
  return required(
    columns,
    writes.map(({ path }) => path),
  );
}

function required(columns: readonly Column[], written: readonly Path[]): string | undefined {
  for (const column of columns) {
    const own = written.filter(([first]) => first === column.name).map(([, ...rest]) => rest);
    if (own.length === 0 && !column.nullable) return formatPath([column.name]);
    // Whether a column that is written as a whole has all fields is checked with its type.
    if (own.length === 0 || own.some((rest) => rest.length === 0)) continue;
    const inside = required(childColumns(column.type), own);
    if (inside !== undefined) return `${formatPath([column.name])}.${inside}`;
  }
  return undefined;
}

/** A column as messages name it. */
export function columnLabel(table: string, path: Path): string {
  return `${table}.${formatPath(path)}`;
}

/** Types of new rows, and schemas that check them (templates/row-schemas.ts), as TypeScript source. Pure. */
import { isFloat, type Column, type DataType } from "../../schema/data-type.ts";
import { call, valueSource, type Source } from "../../schema/text/typescript-source.ts";
import { layOutType } from "./print/print-type.ts";
import { constSource, rowTypes, type RowForm } from "./row-types.ts";

/** Only what is above it belongs into the file of an application. */
const endOfTemplate = "\n// Everything above is copied";

/** What the types and schemas of new rows need. `template` is the text of templates/row-schemas.ts. */
export function rowSchemaHelpers(template: string): string {
  return template.slice(0, template.indexOf(endOfTemplate));
}

/** The name of the type of new rows; that of the schema begins with a small letter. */
export function inputName(name: string): string {
  return `${name}Input`;
}

/** The type of a new row of `table`, types of the structs in it, and the schema that checks such rows. */
export function inputSource(
  table: string,
  name: string,
  columns: readonly Column[],
  nameOf: (text: string) => string,
): readonly string[] {
  const type = inputName(name);
  const source = call("row", ...columns.filter(isGiven).map(fieldSource));
  return [
    ...rowTypes(newRow, type, `A new row of ${table}, as the client stores it unchanged.`, columns, nameOf),
    constSource(type, `RowSchema<${type}>`, source, "check."),
  ];
}

/** The client can't add values to the others. */
function isGiven({ type, computed }: Column): boolean {
  return computed === undefined && canBeGiven(type);
}

function canBeGiven(type: DataType): boolean {
  switch (type.kind) {
    case "null":
      return false;
    case "dictionary":
      return !type.index.kind.endsWith("64") && canBeGiven(type.value);
    case "list":
    case "fixedSizeList":
      return canBeGiven(type.item.type);
    case "struct":
      return type.fields.some(isGiven);
    default:
      return true;
  }
}

const newRow: RowForm = {
  // Not interfaces: the client takes rows only if their type can have further members.
  declare: (name, members) => `type ${name} = ${layOutType({ lines: members }, 0, 0)};`,
  has: isGiven,
  member: ({ name, nullable }, value) => (nullable ? [name, { ...value, orNull: true }, "optional"] : [name, value]),
  list: (item, value) => ({ name: "Items", of: { ...value, orNull: item.nullable } }),
  values: {
    int64: "Int64",
    uint64: "Int64",
    time64: "Int64",
    duration: "Int64",
    date32: "Moment",
    date64: "Moment",
    timestamp: "Moment",
    blob: "Uint8Array",
  },
};

function fieldSource({ name, type, nullable }: Column): Source {
  return call(nullable ? "nullable" : "required", valueSource(name), checkSource(type));
}

function checkSource(type: DataType): Source {
  switch (type.kind) {
    case "struct":
      return call("struct", ...type.fields.filter(isGiven).map(fieldSource));
    case "list":
      return call("list", fieldSource(type.item));
    case "fixedSizeList": {
      const length = valueSource(type.length);
      if (isFloat(type.item.type)) return call("vector", length, checkSource(type.item.type));
      return call("fixedSizeList", length, fieldSource(type.item));
    }
    case "dictionary":
      return checkSource(type.value);
    case "largeUtf8":
      return call("utf8");
    case "largeBinary":
    case "blob":
      return call("binary");
    case "fixedSizeBinary":
      return call(type.kind, valueSource(type.length));
    case "decimal128":
      return call(type.kind, valueSource(type.precision));
    case "timestamp":
    case "time32":
    case "time64":
      return call(type.kind, valueSource(type.unit));
    default:
      return call(type.kind);
  }
}

/** Types of rows as TypeScript source, and a type of its own for every struct in them. Pure. */
import type { Column, DataType } from "../../schema/data-type.ts";
import { layOut } from "../shared/print-source.ts";
import type { Source } from "../../schema/text/typescript-source.ts";
import type { NamedType, TypeMember } from "./print/print-type.ts";

/** What differs between the types of rows that are read and of rows that are written. */
export interface RowForm {
  readonly declare: (name: string, members: readonly TypeMember[]) => string;
  /** Whether a row, or a struct in it, has this column. */
  readonly has: (column: Column) => boolean;
  readonly member: (column: Column, value: NamedType) => TypeMember;
  readonly list: (item: Column, value: NamedType) => NamedType;
  /** The types of values besides `usualValues` and numbers. */
  readonly values: Readonly<Partial<Record<DataType["kind"], string>>>;
}

/** `nameOf` gives each struct a name from its place. */
export function rowTypes(
  form: RowForm,
  name: string,
  comment: string,
  columns: readonly Column[],
  nameOf: (text: string) => string,
): readonly string[] {
  const inside: string[] = [];
  const members = columns
    .filter(form.has)
    .map((column) => form.member(column, valueType(column.type, `${name} ${column.name}`)));
  return [`/** ${comment.replaceAll("*/", "*\\/")} */\nexport ${form.declare(name, members)}\n`, ...inside];

  function valueType(type: DataType, own: string): NamedType {
    switch (type.kind) {
      case "struct": {
        const named = nameOf(own);
        inside.push(...rowTypes(form, named, `Of ${name}.`, type.fields, nameOf));
        return { name: named };
      }
      case "list":
      case "largeList":
      case "fixedSizeList":
        return form.list(type.item, valueType(type.item.type, `${own} item`));
      case "dictionary":
        // Reading such a value throws, because apache-arrow looks it up with a number as key.
        return type.index.kind.endsWith("64") ? { name: "never" } : valueType(type.value, own);
      default:
        return { name: form.values[type.kind] ?? usualValues[type.kind] ?? "number" };
    }
  }
}

const usualValues: RowForm["values"] = {
  bool: "boolean",
  utf8: "string",
  largeUtf8: "string",
  binary: "Uint8Array",
  largeBinary: "Uint8Array",
  fixedSizeBinary: "Uint8Array",
  decimal128: "Uint32Array",
  json: "string",
};

/** An exported constant. Its name begins with a small letter. `prefix`: that of the functions that the source calls. */
export function constSource(name: string, type: string, source: Source, prefix = ""): string {
  const start = `export const ${name.slice(0, 1).toLowerCase()}${name.slice(1)}: ${type} = `;
  return `${start}${layOut(source, { indent: 0, used: start.length, tail: 1, prefix })};\n`;
}

/** Types as Python source: of pyarrow, and of the fields of a model. Pure. */
import { itemName, type Column, type DataType, type TimeUnit } from "../../schema/data-type.ts";

/** A string literal of Python, in ASCII. */
export function pythonText(text: string): string {
  const escaped = [...JSON.stringify(text)].map((character) => {
    const code = character.codePointAt(0)!;
    return code < 127 ? character : `\\U${code.toString(16).padStart(8, "0")}`;
  });
  return escaped.join("");
}

/** A column as a field of a pyarrow schema. */
export function arrowField({ name, type, nullable }: Column): string {
  const [made, own] = type.kind === "blob" ? ["blob", ""] : ["pa.field", `, ${arrowType(type)}`];
  return `${made}(${pythonText(name)}${own}${nullable ? "" : ", nullable=False"})`;
}

function arrowType(type: DataType): string {
  switch (type.kind) {
    case "utf8":
      return "pa.string()";
    case "largeUtf8":
      return "pa.large_string()";
    case "largeBinary":
      return "pa.large_binary()";
    case "bool":
      return "pa.bool_()";
    case "json":
      return "pa.json_()";
    case "blob":
      return 'blob("").type';
    case "fixedSizeBinary":
      return `pa.binary(${type.length})`;
    case "decimal128":
      return `pa.decimal128(${type.precision}, ${type.scale})`;
    case "time32":
    case "time64":
    case "duration":
      return `pa.${type.kind}(${pythonText(type.unit)})`;
    case "timestamp":
      return `pa.timestamp(${pythonText(type.unit)}${zoneOf(type)})`;
    case "list":
      return `pa.list_(${itemOf(type.item)})`;
    case "largeList":
      return `pa.large_list(${itemOf(type.item)})`;
    case "fixedSizeList":
      return `pa.list_(${itemOf(type.item)}, ${type.length})`;
    case "struct":
      return `pa.struct([${type.fields.map(arrowField).join(", ")}])`;
    case "dictionary":
      return `pa.dictionary(${arrowType(type.index)}, ${arrowType(type.value)})`;
    default:
      return `pa.${type.kind}()`;
  }
}

function zoneOf({ zone }: { readonly unit: TimeUnit; readonly zone?: string | undefined }): string {
  return zone === undefined ? "" : `, tz=${pythonText(zone)}`;
}

/** pyarrow gives a list of a type alone a nullable item of the usual name. */
function itemOf(item: Column): string {
  return item.name === itemName && item.nullable ? arrowType(item.type) : arrowField(item);
}

/** Gives the model of a struct at that place. */
type ModelOf = (fields: readonly Column[], place: string) => string;

/** The type of the values of a field. */
export function annotation({ type, nullable }: Column, modelOf: ModelOf, place: string): string {
  const values = valueType(type, modelOf, place);
  return nullable && values !== "None" ? `Optional[${values}]` : values;
}

function valueType(type: DataType, modelOf: ModelOf, place: string): string {
  switch (type.kind) {
    case "struct":
      return modelOf(type.fields, place);
    case "fixedSizeList":
      if (type.item.type.kind === "float32") return `Vector(${type.length})`;
      if (type.item.type.kind.startsWith("float")) return `Vector(${type.length}, ${arrowType(type.item.type)})`;
      return `list[${annotation(type.item, modelOf, `${place} item`)}]`;
    case "list":
    case "largeList":
      return `list[${annotation(type.item, modelOf, `${place} item`)}]`;
    case "dictionary":
      return valueType(type.value, modelOf, place);
    default:
      return plainTypes[type.kind] ?? "int";
  }
}

/** All others are integers. */
const plainTypes: Readonly<Partial<Record<DataType["kind"], string>>> = {
  null: "None",
  bool: "bool",
  float16: "float",
  float32: "float",
  float64: "float",
  utf8: "str",
  largeUtf8: "str",
  binary: "bytes",
  largeBinary: "bytes",
  fixedSizeBinary: "bytes",
  date32: "datetime.date",
  date64: "datetime.date",
  time32: "datetime.time",
  time64: "datetime.time",
  timestamp: "datetime.datetime",
  duration: "datetime.timedelta",
  decimal128: "decimal.Decimal",
  json: "str",
  // Written with its bytes as `data`; a query gives where they are.
  blob: "dict",
};

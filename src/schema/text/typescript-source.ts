/** The TypeScript that creates types, indexes and values, before it is laid out in lines. Pure. */
import { itemName, parametersOf, type Column, type DataType } from "../data-type.ts";
import type { IndexType } from "../table-index.ts";

export type Source =
  | { readonly kind: "value"; readonly value: string | number | boolean | null }
  /** A call of a function that the package exports. */
  | {
      readonly kind: "call";
      readonly name: string;
      readonly args: readonly Source[];
      readonly notNull?: boolean;
      readonly computed?: string | undefined;
    }
  | { readonly kind: "array"; readonly items: readonly Source[] }
  | { readonly kind: "object"; readonly entries: readonly (readonly [key: string, value: Source])[] };

export function call(name: string, ...args: readonly Source[]): Source {
  return { kind: "call", name, args };
}

/** Any JSON value. Members that are undefined are left out. */
export function valueSource(value: unknown): Source {
  if (Array.isArray(value)) return { kind: "array", items: value.map(valueSource) };
  if (typeof value === "object" && value !== null) return objectSource(Object.entries(value));
  return { kind: "value", value: value as string | number | boolean | null };
}

function objectSource(entries: readonly (readonly [string, unknown])[]): Source {
  const given = entries.filter(([, value]) => value !== undefined);
  return { kind: "object", entries: given.map(([key, value]) => [key, valueSource(value)]) };
}

/** The last argument of a builder; empty if no option is given. */
export function optionsSource(options: Readonly<Record<string, unknown>>): readonly Source[] {
  const source = objectSource(Object.entries(options));
  return source.kind === "object" && source.entries.length === 0 ? [] : [source];
}

/** A column's type with its nullability. */
export function columnSource({ type, nullable, computed }: Pick<Column, "type" | "nullable" | "computed">): Source {
  const source = typeSource(type);
  if (computed !== undefined && source.kind === "call") return { ...source, computed };
  return nullable ? source : { ...source, ...(source.kind === "call" && { notNull: true }) };
}

/** Columns by name, or as pairs if an object would put them into another order. */
export function fieldsSource(columns: readonly Column[]): Source {
  const names = columns.map(({ name }) => name);
  const inObject = Object.keys(Object.fromEntries(names.map((name) => [name, true])));
  const isKept = inObject.length === names.length && inObject.every((name, index) => name === names[index]);
  if (isKept) return { kind: "object", entries: columns.map((column) => [column.name, columnSource(column)]) };
  const pairs = columns.map((column): Source => ({
    kind: "array",
    items: [valueSource(column.name), columnSource(column)],
  }));
  return { kind: "array", items: pairs };
}

/** The call of the builder for a type. Throws if there is none. */
export function typeSource(type: DataType): Source {
  switch (type.kind) {
    case "list":
    case "largeList":
      return call(type.kind, itemSource(type.item));
    case "fixedSizeList": {
      const [item, length] = [type.item.type, valueSource(type.length)];
      if (item.kind === "float32") return call("vector", length);
      return item.kind.startsWith("float")
        ? call("vector", length, typeSource(item))
        : call(type.kind, itemSource(type.item), length);
    }
    case "struct":
      return call(type.kind, fieldsSource(type.fields));
    case "dictionary":
      return call(type.kind, typeSource(type.index), typeSource(type.value));
    case "unknown":
      throw new Error(`no builder makes ${type.name}`);
    case "null":
      return call("nullType");
    default:
      return call(type.kind, ...parametersOf(type).map(valueSource));
  }
}

function itemSource(item: Column): Source {
  if (item.name !== itemName) throw new Error(`no builder makes a list whose items are called ${item.name}`);
  return columnSource(item);
}

export function indexSource({ kind, options }: IndexType): Source {
  return call(kind, ...optionsSource(options));
}

/** In one line. `prefix`: that of names that the package exports: none, or `m.`. */
export function flat(source: Source, prefix: string): string {
  const inTurn = (all: readonly Source[]) => all.map((one) => flat(one, prefix)).join(", ");
  switch (source.kind) {
    case "value":
      return valueText(source.value);
    case "call":
      return `${prefix}${source.name}(${inTurn(source.args)}${endOf(source)}`;
    case "array":
      return `[${inTurn(source.items)}]`;
    case "object": {
      const entries = source.entries.map(([key, value]) => `${keyText(key)}: ${flat(value, prefix)}`);
      return entries.length === 0 ? "{}" : `{ ${entries.join(", ")} }`;
    }
  }
}

/** In brackets, because `__proto__: x` would set a prototype. */
export function keyText(key: string): string {
  if (key === "__proto__") return `["__proto__"]`;
  return /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(key) || /^(0|[1-9]\d{0,14})$/.test(key) ? key : textText(key);
}

function valueText(value: string | number | boolean | null): string {
  if (typeof value === "string") return textText(value);
  return Object.is(value, -0) ? "-0" : String(value).replace("e+", "e");
}

/** A string literal, in single quotes if that takes fewer backslashes. */
export function textText(text: string): string {
  const quoted = JSON.stringify(text).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
  const [double, single] = [text.split('"').length, text.split("'").length];
  if (double <= single) return quoted;
  return `'${quoted.slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}

/** What follows the arguments of a call. */
export function endOf({ notNull, computed }: CallSource): string {
  if (computed !== undefined) return `).computed(${textText(computed)})`;
  return notNull === true ? ").notNull()" : ")";
}

export type CallSource = Extract<Source, { kind: "call" }>;

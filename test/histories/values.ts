/**
 * Values of rows as texts that differ exactly where the values differ: NaN, -0, the infinities, null, bytes and empty texts all
 * have their own. Written apart from the code that the runs compare rows with.
 */
import { isFloat, isInteger, type Column, type DataType } from "../../src/schema/data-type.ts";
import type { Chance } from "../simulate/seeded-random.ts";

/** A struct is an object by the numbers of its fields, or by their names where nothing has numbered them yet. */
export type Value = null | string | readonly Value[] | { readonly [field: string]: Value };

/** As an application writes it: a time as milliseconds. */
export type Raw =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | readonly Raw[]
  | { readonly [name: string]: Raw };

/** Whether all that the histories do to such a column can be foretold. */
export function isKnown(type: DataType): boolean {
  if (type.kind === "list" || type.kind === "fixedSizeList") return isScalar(type.item.type);
  if (type.kind === "struct") return type.fields.every((field) => isScalar(field.type));
  return isScalar(type);
}

export function isScalar(type: DataType): boolean {
  if (type.kind === "timestamp") return type.zone === undefined || type.zone === "UTC";
  return isInteger(type) || isFloat(type) || /^(bool|utf8|largeUtf8|binary|largeBinary|date32)$/.test(type.kind);
}

export function valueOf(raw: Raw | undefined, type: DataType): Value {
  if (raw === null || raw === undefined) return null;
  if (isInteger(type)) return String(raw);
  if (isFloat(type)) return float(Number(raw), type);
  switch (type.kind) {
    case "bool":
      return String(raw);
    case "utf8":
    case "largeUtf8":
      return `"${String(raw)}"`;
    case "binary":
    case "largeBinary":
      return `0x${Buffer.from(raw as Uint8Array).toString("hex")}`;
    case "date32":
    case "timestamp":
      return String(typeof raw === "string" ? Date.parse(raw) : raw);
    case "list":
    case "fixedSizeList":
      return Array.from(raw as Iterable<Raw>, (item) => valueOf(item, type.item.type));
    case "struct": {
      const fields = raw as { readonly [name: string]: Raw };
      return Object.fromEntries(type.fields.map(({ name, type: own }) => [name, valueOf(fields[name], own)]));
    }
    default:
      throw new TypeError(`no value of ${type.kind}`);
  }
}

function float(value: number, { kind }: DataType): string {
  const held = kind === "float16" ? half(value) : kind === "float32" ? Math.fround(value) : value;
  return Object.is(held, -0) ? "-0" : String(held);
}

/** The nearest float16; of those that the histories write none lies in the middle between two. */
function half(value: number): number {
  if (!Number.isFinite(value) || value === 0) return value;
  const step = 2 ** (Math.max(Math.floor(Math.log2(Math.abs(value))), -14) - 10);
  const rounded = Math.round(value / step) * step;
  return Math.abs(rounded) > 65_504 ? Math.sign(value) * Infinity : rounded;
}

/** What the engine makes of a value of one type in another, where it takes that cast. */
export function cast(value: Value, to: DataType): Value {
  if (value === null) return null;
  if (isFloat(to) && typeof value === "string") return float(Number(value), to);
  if ("item" in to && Array.isArray(value)) return value.map((item: Value) => cast(item, to.item.type));
  return value;
}

/** Whether the casts of the histories between these types can be foretold: times are cut in too many ways. */
export function isKnownCast(from: DataType, to: DataType): boolean {
  const isTime = (type: DataType) => type.kind === "date32" || type.kind === "timestamp";
  return isKnown(to) && !isTime(from) && !isTime(to);
}

const floats = [0, -0, NaN, Infinity, -Infinity, 1.5, -7, 0.1, 1e300];
// 0.1 and 1e300 lose something as a float32, 1.5 does not; the engine's client refuses NaN in vectors.
const inVectors = [0, -0, Infinity, 1.5, 0.1];

/** Any value of a type, the edges of it more often than not. */
export function drawValue(chance: Chance, { type, nullable }: Pick<Column, "type" | "nullable">): Raw {
  if (nullable && chance.happens(0.25)) return null;
  if (isInteger(type)) {
    const bits = BigInt(type.kind.replace(/\D+/, ""));
    const [min, max] = type.kind.startsWith("u")
      ? [0n, 2n ** bits - 1n]
      : [-(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n];
    // The edges stop a cast to fewer bits, so they are not that frequent.
    const value = chance.happens(0.1) ? chance.pick([min, max]) : BigInt(chance.below(100));
    return bits === 64n ? value : Number(value);
  }
  if (isFloat(type)) return chance.pick(floats);
  switch (type.kind) {
    case "bool":
      return chance.happens(0.5);
    case "utf8":
    case "largeUtf8":
      return chance.pick(["", "a", "größer", "7", "it's", "null"]);
    case "binary":
    case "largeBinary":
      return chance.pick([new Uint8Array(), new Uint8Array([0]), new Uint8Array([255, 0, 1])]);
    case "date32":
    case "timestamp":
      // Whole days, so that every unit holds them.
      return chance.pick([0, -86_400_000, 20_000 * 86_400_000]);
    case "list":
      return Array.from({ length: chance.below(3) }, () => drawValue(chance, type.item));
    case "fixedSizeList":
      return Array.from({ length: type.length }, () =>
        isInteger(type.item.type) ? drawValue(chance, { ...type.item, nullable: false }) : chance.pick(inVectors),
      );
    case "struct":
      return Object.fromEntries(type.fields.map((field) => [field.name, drawValue(chance, field)]));
    default:
      throw new TypeError(`no value of ${type.kind}`);
  }
}

/** A scalar value as SQL of that type. */
export function sqlOf(raw: Raw, type: DataType): string {
  if (raw === null) return "null";
  if (isFloat(type)) return `arrow_cast('${Object.is(raw, -0) ? "-0" : String(raw)}', '${arrowNames[type.kind]}')`;
  if (raw instanceof Uint8Array) return `X'${Buffer.from(raw).toString("hex")}'`;
  if (typeof raw === "string") return `'${raw.replaceAll("'", "''")}'`;
  return String(raw);
}

const arrowNames: Readonly<Record<string, string>> = { float16: "Float16", float32: "Float32", float64: "Float64" };

/** Whether the engine's `update` is given values of it as SQL here. */
export function hasSql(type: DataType): boolean {
  return isInteger(type) || isFloat(type) || /^(bool|utf8|binary|largeUtf8|largeBinary)$/.test(type.kind);
}

/** Generates single sample values, including the edge values of their types. */
import type { DataType, TimeUnit } from "../../schema/data-type.ts";
import { widthOf } from "../../schema/type-width.ts";

/** `edges`: the smallest, the largest and unusual values, and nulls. `plain`: small values, and no nulls. */
export type Draw = "edges" | "plain";

/** A number from 0 to 2^32 - 1 that looks random but depends only on the arguments. */
export function mixed(row: number, salt: number): number {
  let hash = Math.imul(row + 1, 0x9e37_79b1) ^ Math.imul(salt + 1, 0x85eb_ca77);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b_3c6d);
  hash = Math.imul(hash ^ (hash >>> 12), 0x297a_2d39);
  return (hash ^ (hash >>> 15)) >>> 0;
}

/** Bytes per value; 0 if the values differ in width. */
export function byteWidth(type: DataType): number {
  const { fixed, variable } = widthOf(type);
  return variable === 0 ? fixed : 0;
}

/** A value of a fixed-width type, as the integer with the same bits. */
export function drawInteger(type: DataType, row: number, salt: number, draw: Draw): bigint {
  const number = mixed(row, salt);
  if (draw === "plain") return plainOf(type, number);
  const edges = edgesOf(type);
  // The first rows have one edge value each. About half of the later rows have one of them.
  if (row < edges.length) return edges[row]!;
  return number % 2 === 0 ? edges[(number >>> 1) % edges.length]! : plainOf(type, number >>> 1);
}

function plainOf(type: DataType, number: number): bigint {
  const small = BigInt(number % 100);
  switch (type.kind) {
    case "float16":
    case "float32":
    case "float64":
      return floatBits(type.kind, Number(small) / 4);
    case "date64":
      return small * day;
    case "fixedSizeBinary":
      return BigInt.asUintN(8 * type.length, BigInt(number) * 0x1_0000_0001n);
    case "decimal128":
      return small % 10n ** BigInt(type.precision);
    default:
      return small;
  }
}

const day = 86_400_000n;
/** 9999-12-31 and 0001-01-01, in days since 1970-01-01. */
const lastDay = 2_932_896n;
const firstDay = -719_162n;
const perSecond: Readonly<Record<TimeUnit, bigint>> = { s: 1n, ms: 1_000n, us: 1_000_000n, ns: 1_000_000_000n };

function edgesOf(type: DataType): readonly bigint[] {
  const bits = BigInt(8 * byteWidth(type));
  const signed = [0n, 1n, -1n, 2n ** (bits - 1n) - 1n, -(2n ** (bits - 1n))];
  switch (type.kind) {
    case "float16":
    case "float32":
    case "float64":
      return floatEdges[type.kind];
    case "date32":
      return [0n, -1n, firstDay, lastDay];
    case "date64":
      return [0n, -day, firstDay * day, lastDay * day];
    case "time32":
    case "time64":
      return [0n, 1n, 86_400n * perSecond[type.unit] - 1n];
    case "timestamp": {
      // 64-bit nanoseconds reach only from 1677 to 2262.
      if (type.unit === "ns") return signed;
      const second = perSecond[type.unit];
      return [0n, 1n, -1n, firstDay * 86_400n * second, (lastDay + 1n) * 86_400n * second - 1n];
    }
    case "decimal128": {
      const largest = 10n ** BigInt(type.precision) - 1n;
      return [0n, 1n, -1n, largest, -largest];
    }
    case "fixedSizeBinary":
      return [0n, -1n, 1n];
    case "uint8":
    case "uint16":
    case "uint32":
    case "uint64":
      return [0n, 1n, 2n ** bits - 1n];
    default:
      return signed;
  }
}

/**
 * 0, -0, the smallest positive number, NaN, the infinities, the largest number, and one that no narrower float holds.
 */
const floatEdges: Readonly<Record<"float16" | "float32" | "float64", readonly bigint[]>> = {
  float16: [0n, 0x8000n, 1n, 0x7e00n, 0x7c00n, 0xfc00n, 0x7bffn, 0x3555n],
  float32: [0n, 0x8000_0000n, 1n, 0x7fc0_0000n, 0x7f80_0000n, 0xff80_0000n, 0x7f7f_ffffn, 0x3dcc_cccdn],
  float64: [0n, 1n << 63n, 1n, 0x7ff8n << 48n, 0x7ff0n << 48n, 0xfff0n << 48n, 0x7fef_ffff_ffff_ffffn].concat(
    0x3fb9_9999_9999_999an,
  ),
};

function floatBits(kind: "float16" | "float32" | "float64", value: number): bigint {
  const bytes = Buffer.alloc(8);
  if (kind === "float64") bytes.writeDoubleLE(value);
  else bytes.writeFloatLE(value);
  if (kind !== "float16") return kind === "float64" ? bytes.readBigUInt64LE() : BigInt(bytes.readUInt32LE());
  // Quarters below 25 are exact as float16: exponent and mantissa only move to their narrower places.
  const bits = bytes.readUInt32LE();
  return value === 0 ? 0n : BigInt((((bits >>> 23) - 112) << 10) | ((bits >>> 13) & 0x3ff));
}

const oddTexts = [
  "",
  " ",
  "'\"`\\%_;--",
  "Größe",
  "日本語",
  "🦩👩‍👩‍👧",
  "e\u0301",
  "line\nbreak\ttab",
  "NULL",
  "x".repeat(10_000),
];

/** The bytes of a text or a binary value. */
export function drawText({ kind }: DataType, row: number, salt: number, draw: Draw): Buffer {
  const number = mixed(row, salt);
  const plain = Buffer.from(`text ${number % 1000}`);
  if (draw === "plain") return plain;
  const isText = kind === "utf8" || kind === "largeUtf8";
  const odd = [...oddTexts.map((text) => Buffer.from(text)), ...(isText ? [] : [Buffer.from([0, 0xff, 0xfe, 0])])];
  if (row < odd.length) return odd[row]!;
  // The tenth text is long, so only one row gets it.
  return number % 2 === 0 ? odd[(number >>> 1) % 9]! : plain;
}

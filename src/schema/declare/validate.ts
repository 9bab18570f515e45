/** zod schemas of types, columns and rows: what a step may contain, built or written by hand. */
import { z } from "zod";
import { notNullMark } from "./not-null-mark.ts";
import type { RowValue, RowValues } from "../row-values.ts";
import {
  childColumns,
  integerKinds,
  itemName,
  plainKinds,
  timeUnits,
  type Column,
  type DataType,
} from "../data-type.ts";

/** How many types the engine accepts inside each other: with one more, it can't read the schema (measured). */
const mostLevels = 60;

const length = z
  .int("must be a whole number")
  .min(1, "must be at least 1")
  .max(2 ** 31 - 1, "must be at most 2147483647");

const zone = z
  .string()
  .refine(isZone, "must be a time zone's name such as UTC or Europe/Berlin; the engine takes no offsets");

const noInteger = "must be an integer type such as int32()";

/** The type of a column. Members that contain types are getters, as zod requires for recursion. */
export const dataType: z.ZodType<DataType> = z.discriminatedUnion(
  "kind",
  [
    z.strictObject({ kind: z.literal(plainKinds) }),
    z.strictObject({ kind: z.literal("fixedSizeBinary"), length }),
    z
      .strictObject({
        kind: z.literal("decimal128"),
        precision: z.int("must be a whole number").min(1, "must be at least 1").max(38, "must be at most 38"),
        scale: z.int("must be a whole number").min(0, "must be at least 0"),
      })
      .refine((type) => type.scale <= type.precision, { path: ["scale"], message: "must be at most the precision" }),
    z.strictObject({ kind: z.literal("time32"), unit: z.enum(["s", "ms"], 'must be "s" or "ms"') }),
    z.strictObject({ kind: z.literal("time64"), unit: z.enum(["us", "ns"], 'must be "us" or "ns"') }),
    z.strictObject({ kind: z.literal("duration"), unit: z.enum(timeUnits, 'must be "s", "ms", "us" or "ns"') }),
    z.strictObject({
      kind: z.literal("timestamp"),
      unit: z.enum(timeUnits, 'must be "s", "ms", "us" or "ns"'),
      zone: zone.optional(),
    }),
    z.strictObject({
      kind: z.literal(["list", "largeList"]),
      get item() {
        return column;
      },
    }),
    z
      .strictObject({
        kind: z.literal("fixedSizeList"),
        get item() {
          return column;
        },
        length,
      })
      .refine((type) => type.item.name === itemName, { path: ["item"], message: `must be named ${itemName}` })
      .refine((type) => type.item.nullable, {
        path: ["item"],
        message: "can't be notNull(): the engine keeps it nullable",
      })
      .refine((type) => hasFixedWidth(type.item.type), {
        path: ["item"],
        message: "must be a type of fixed width, such as a float or an integer; for other types, use list(…)",
      }),
    z.strictObject({
      kind: z.literal("struct"),
      get fields() {
        return z.array(column, "must be an object of fields").min(1, "must have at least one field");
      },
    }),
    z.strictObject({
      kind: z.literal("dictionary"),
      index: z.strictObject({ kind: z.literal(integerKinds, noInteger) }, noInteger),
      get value() {
        return dataType.refine(
          (type) => isDictionaryValue(type),
          "must be an integer, float, text, binary or bool type",
        );
      },
    }),
  ],
  {
    error: ({ input }) =>
      input === notNullMark
        ? "notNull() has no place here; use setNullable in a step of its own"
        : "must be a type such as int64() or utf8()",
  },
);

const columnShape = {
  name: z.string(),
  type: dataType,
  nullable: z.boolean("must be a type such as int64() or utf8()"),
};

/** A column, a field of a struct, or the item of a list. */
export const column: z.ZodType<Column> = withoutNull(columnShape);

/** A column of a table in `schema.ts`, which may be computed. */
export const declaredColumn: z.ZodType<Column> = withoutNull({
  ...columnShape,
  computed: z.string("must be an SQL expression").optional(),
});

function withoutNull<Shape extends z.ZodRawShape>(shape: Shape) {
  return z
    .strictObject(shape)
    .refine(
      ({ type, nullable }: Partial<Column>) => nullable === true || type?.kind !== "null",
      "is of type null and can't be notNull()",
    )
    .refine(
      ({ type }: Partial<Column>) => type === undefined || levelsOf(type) <= mostLevels,
      `has more than ${mostLevels} types nested inside each other, which the engine can't store`,
    ) as unknown as z.ZodType<Column>;
}

/** A value of a row, as plain JSON. */
const rowValue: z.ZodType<RowValue> = z.union(
  [
    z.null(),
    z.boolean(),
    z.number(),
    z.string(),
    z.lazy(() => z.array(rowValue)),
    z.lazy(() => z.record(z.string(), rowValue)),
  ],
  "must be a plain value",
);

export const rows: z.ZodType<readonly RowValues[]> = z
  .array(z.record(z.string(), rowValue, "must be an object of values"), "must be a list of rows")
  .min(1, "must have at least one row");

/** The metadata of a table's schema. */
export const schemaMetadata = z
  .record(z.string(), z.string("must be text"), "must be an object of texts")
  .refine((metadata) => Object.keys(metadata).length > 0, "must have at least one key");

function isZone(zone: string): boolean {
  if (!/^[A-Za-z]/.test(zone)) return false;
  try {
    new Intl.DateTimeFormat("en", { timeZone: zone }).format();
    return true;
  } catch {
    return false;
  }
}

function levelsOf(type: DataType): number {
  return Math.max(0, ...childColumns(type).map((child) => 1 + levelsOf(child.type)));
}

/** Whether the engine can read and write vectors of a type. It also creates some of structs and of nulls. */
export function hasFixedWidth(type: DataType): boolean {
  if (type.kind === "fixedSizeBinary" || type.kind === "fixedSizeList") return true;
  const name = type.kind === "unknown" ? type.name : type.kind;
  return !/utf8|binary|list|dictionary|null|json|blob|struct/i.test(name);
}

function isDictionaryValue(type: DataType): boolean {
  return /^(u?int|float|utf8|largeUtf8|binary|largeBinary|bool)/.test(type.kind);
}

/**
 * Types and columns as TypeScript types, so that migrations are checked while they are written. A shape is the notation
 * of a type, `"int64 not null"`, or a pair with the shape inside, `["list", "utf8"]` and
 * `["struct not null", { url: "utf8" }]`. A shape that can't be determined is `unknown`; everything is allowed with it.
 */
import type { TimeUnit, DataType } from "../data-type.ts";

export type ShapeOf<Column> =
  Column extends ColumnType<infer Nullability, infer Shape>
    ? boolean extends Nullability
      ? unknown
      : Nullability extends true
        ? Shape
        : NotNull<Shape>
    : unknown;

/** The shapes of a table's columns or a struct's fields, by name. */
export type ShapesOf<Fields> = Fields extends readonly (readonly [string, unknown])[]
  ? PairedShapes<Fields[number]>
  : string extends keyof Fields
    ? unknown
    : { -readonly [Name in keyof Fields as TextOf<Name>]: ShapeOf<Fields[Name]> };

type PairedShapes<Pair extends readonly [string, unknown]> = string extends Pair[0]
  ? unknown
  : { [One in Pair as One[0]]: ShapeOf<One[1]> };

/** Keys that are whole numbers are numbers in an object type, not strings. */
type TextOf<Name> = Name extends number ? `${Name}` : Name;

/** The same shape, not null. */
export type NotNull<Shape> = unknown extends Shape
  ? unknown
  : Shape extends `${string} not null` | [`${string} not null`, unknown]
    ? Shape
    : Shape extends string
      ? `${Shape} not null`
      : Shape extends [infer Head extends string, infer Inside]
        ? [`${Head} not null`, Inside]
        : unknown;

/** The same shape, nullable. */
export type Nullable<Shape> = Shape extends `${infer Type} not null`
  ? Type
  : Shape extends [`${infer Head} not null`, infer Inside]
    ? [Head, Inside]
    : Shape;

export type IsNotNull<Shape> = unknown extends Shape
  ? boolean
  : Shape extends `${string} not null` | [`${string} not null`, unknown]
    ? true
    : false;

/** A shape as text, for error messages. */
export type WordsOf<Shape> = Shape extends string
  ? Shape
  : Shape extends [infer Head extends string, infer Inside]
    ? Inside extends string
      ? Head extends `fixedSizeList(${infer Length})`
        ? `fixedSizeList<${Inside}, ${Length}>`
        : `${Head}<${Inside}>`
      : Head
    : "this type";

export type TimestampShape<Unit extends TimeUnit, Zone> = Zone extends string
  ? `timestamp(${Unit}, ${Zone})`
  : `timestamp(${Unit})`;

export type DictionaryShape<Index, Value> = Index extends string
  ? Value extends string
    ? `dictionary<${Index}, ${Value}>`
    : unknown
  : unknown;

export type VectorShape<Item, Length extends number> = [`fixedSizeList(${Length})`, Item];

declare const shape: unique symbol;

/** The type of a column with its nullability. Nullable unless `.notNull()` is called. */
export interface ColumnType<Nullable extends boolean = boolean, Shape = unknown> {
  readonly type: DataType;
  readonly nullable: Nullable;
  /** The SQL expression of a computed column. */
  readonly expression?: string;
  /** The shape, as far as it is known. Exists only in TypeScript types. */
  readonly [shape]?: Shape;
}

/** A nullable column type. `.notNull()` returns the same type, not null. */
export interface NullableType<Shape = unknown> extends ColumnType<true, Shape> {
  notNull(): ColumnType<false, Shape>;
  /**
   * Makes it a column that the engine computes from others by an SQL expression. For `schema.ts` only: in a migration
   * use `addComputedColumn`.
   */
  computed(expression: string): ColumnType<true, Shape>;
}

/** Columns by name. Use pairs if names are whole numbers, which JavaScript puts first in an object. */
export type Fields = Readonly<Record<string, ColumnType>> | readonly (readonly [name: string, column: ColumnType])[];

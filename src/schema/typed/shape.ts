/**
 * Types and columns as TypeScript knows them, for migrations that are checked while they are written. A shape is the
 * notation of a type, `"int64 not null"`; or in a pair with what is inside it, `["list", "utf8"]` and
 * `["struct not null", { url: "utf8" }]`. `unknown` is what can't be told, and everything is allowed of it.
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

/** The columns of a table or a struct, by their names. */
export type ShapesOf<Fields> = Fields extends readonly (readonly [string, unknown])[]
  ? PairedShapes<Fields[number]>
  : string extends keyof Fields
    ? unknown
    : { -readonly [Name in keyof Fields as TextOf<Name>]: ShapeOf<Fields[Name]> };

type PairedShapes<Pair extends readonly [string, unknown]> = string extends Pair[0]
  ? unknown
  : { [One in Pair as One[0]]: ShapeOf<One[1]> };

/** Names that are whole numbers are no texts in an object. */
type TextOf<Name> = Name extends number ? `${Name}` : Name;

/** The same type, refusing nulls. */
export type NotNull<Shape> = unknown extends Shape
  ? unknown
  : Shape extends `${string} not null` | [`${string} not null`, unknown]
    ? Shape
    : Shape extends string
      ? `${Shape} not null`
      : Shape extends [infer Head extends string, infer Inside]
        ? [`${Head} not null`, Inside]
        : unknown;

/** The same type, letting nulls in: what a type alone is. */
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

/** As people write it, for sentences. */
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

/** A type and its nullability: what a column is made of. Nullable unless `.notNull()` says otherwise. */
export interface ColumnType<Nullable extends boolean = boolean, Shape = unknown> {
  readonly type: DataType;
  readonly nullable: Nullable;
  /** Of a column that the engine computes from others. */
  readonly expression?: string;
  /** Known to TypeScript alone, as far as it is: the type in our notation. */
  readonly [shape]?: Shape;
}

/** A nullable column type, which `.notNull()` turns into one that refuses nulls. */
export interface NullableType<Shape = unknown> extends ColumnType<true, Shape> {
  notNull(): ColumnType<false, Shape>;
  /** Of a column that the engine computes from others by an SQL expression; for `schema.ts`, as steps have `addComputedColumn`. */
  computed(expression: string): ColumnType<true, Shape>;
}

/** Columns by name; or in pairs, where some are called by whole numbers, which JavaScript puts first in an object. */
export type Fields = Readonly<Record<string, ColumnType>> | readonly (readonly [name: string, column: ColumnType])[];

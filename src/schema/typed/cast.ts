/**
 * The casts that the engine accepts, as types: those that ../cast-rules.ts allows, compared pair by pair in
 * test/types/relations.test.ts.
 */
import type { Nullable } from "./shape.ts";

/** Whether a type can be cast to another, both without nullability. `boolean` if it can't be determined. */
export type Castable<From, To> = unknown extends From
  ? boolean
  : unknown extends To
    ? boolean
    : From extends [infer Head extends string, infer Item]
      ? To extends [infer OtherHead extends string, infer OtherItem]
        ? ListCastable<Head, Item, OtherHead, OtherItem>
        : false
      : To extends string
        ? From extends string
          ? TextCastable<From, To>
          : false
        : false;

type ListCastable<Head extends string, Item, OtherHead extends string, OtherItem> = Head | OtherHead extends ListHead
  ? SameLength<Head, OtherHead> extends false
    ? false
    : Head extends FixedHead
      ? [OtherItem] extends [Nullable<OtherItem>]
        ? Castable<Nullable<Item>, OtherItem>
        : false
      : Castable<Nullable<Item>, Nullable<OtherItem>>
  : false;

type FixedHead = `fixedSizeList(${string}`;
type ListHead = "list" | "list not null" | "largeList" | "largeList not null" | FixedHead;

/** Lengths that are not known may be equal. */
type SameLength<Head, OtherHead> = Head extends FixedHead
  ? OtherHead extends FixedHead
    ? Nullable<Head> extends Nullable<OtherHead>
      ? true
      : Nullable<OtherHead> extends Nullable<Head>
        ? true
        : false
    : true
  : true;

type TextCastable<From extends string, To extends string> = To extends `dictionary<${string}, ${infer Value}>`
  ? Family<Value> extends "integer" | "float" | "text" | "binary"
    ? LeafCastable<ValueOf<From>, Value>
    : false
  : LeafCastable<ValueOf<From>, To>;

type ValueOf<Type> = Type extends `dictionary<${string}, ${infer Value}>` ? Value : Type;

type LeafCastable<From, To> = [Family<From>] extends [never]
  ? false
  : [Family<To>] extends [never]
    ? false
    : Family<From> extends Family<To>
      ? true
      : From extends `timestamp(${string}`
        ? Family<To> extends "time of day"
          ? true
          : false
        : false;

/** Casts stay within one family. A type without a family is never cast. */
type Family<Type> = { [Name in keyof Families]: Type extends Families[Name] ? Name : never }[keyof Families];

interface Families {
  integer: `int${string}` | `uint${string}`;
  float: `float${string}`;
  text: "utf8" | "largeUtf8";
  binary: "binary" | "largeBinary";
  bool: "bool";
  decimal: `decimal128(${string}`;
  "point in time": "date32" | "date64" | `timestamp(${string}`;
  "time of day": `time32(${string}` | `time64(${string}`;
  duration: `duration(${string}`;
}

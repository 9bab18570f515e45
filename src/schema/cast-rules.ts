/**
 * Which casts the engine accepts and what they do to values, as rules over families of types. The rules were measured
 * pair by pair; test/unit/schema/cast-rules.test.ts compares them with the whole measured matrix.
 */
import { bits, isBinary, isFloat, isInteger, isTextType, sameType, type DataType, type TimeUnit } from "./data-type.ts";
import { extensionIn, wayToFill } from "./reserved-metadata.ts";

export type CastVerdict =
  | { readonly allowed: false; readonly hint: string }
  | {
      readonly allowed: true;
      /** Some values make the whole call fail; it then changes nothing. */
      readonly mayFail: boolean;
      /** Some values change silently: rounding, truncation, infinity, wrapping. */
      readonly mayLose: boolean;
    };

type Allowed = Extract<CastVerdict, { allowed: true }>;

const exact: Allowed = { allowed: true, mayFail: false, mayLose: false };
const fails: Allowed = { allowed: true, mayFail: true, mayLose: false };
const loses: Allowed = { allowed: true, mayFail: false, mayLose: true };
const failsAndLoses: Allowed = { allowed: true, mayFail: true, mayLose: true };
const refused = (hint: string): CastVerdict => ({ allowed: false, hint });

/** What the engine does when it casts a column from one type to another. */
export function castVerdict(from: DataType, to: DataType): CastVerdict {
  if (isInteger(from) && isInteger(to)) return integerHolds(from, to) ? exact : fails;
  if (isFloat(from) && isFloat(to)) return bits(to) >= bits(from) ? exact : loses;
  if (isTextType(from) && isTextType(to)) return exact;
  if (isBinary(from) && isBinary(to)) return exact;
  if (from.kind === "bool" && to.kind === "bool") return exact;
  if (from.kind === "decimal128" && to.kind === "decimal128") return decimalVerdict(from, to);
  if (isPointInTime(from) && (isPointInTime(to) || (from.kind === "timestamp" && isTimeOfDay(to))))
    return pointInTimeVerdict(from, to);
  if (isTimeOfDay(from) && isTimeOfDay(to)) return ticks(to.unit) >= ticks(from.unit) ? exact : loses;
  if (from.kind === "duration" && to.kind === "duration")
    return ticks(to.unit) > ticks(from.unit) ? fails : from.unit === to.unit ? exact : loses;
  if (isListLike(from) && isListLike(to)) return listVerdict(from, to);
  if (from.kind === "dictionary" || to.kind === "dictionary") return dictionaryVerdict(from, to);
  return refused(hintFor(from, to));
}

function hintFor(from: DataType, to: DataType): string {
  if (extensionIn(to) !== undefined) return `a column can't be cast to ${to.kind}; ${wayToFill(to)}`;
  if (from.kind === "struct" && to.kind === "struct") return "change its fields one by one, by their paths";
  if (isNumberType(from) && isNumberType(to))
    return "the engine never casts between integers, floats and decimals; recreate the column with retypeColumn's using";
  return "the engine casts only inside one family of types; recreate the column with retypeColumn's using";
}

export function isNumberType(type: DataType): boolean {
  return isInteger(type) || isFloat(type) || type.kind === "decimal128";
}

function integerHolds(from: DataType, to: DataType): boolean {
  const signedFrom = from.kind.startsWith("int");
  const signedTo = to.kind.startsWith("int");
  if (signedFrom === signedTo) return bits(to) >= bits(from);
  return signedTo && bits(to) > bits(from);
}

type Decimal = Extract<DataType, { kind: "decimal128" }>;

function decimalVerdict(from: Decimal, to: Decimal): CastVerdict {
  // Rounding can carry into one more digit before the decimal point (99.9 becomes 100).
  const carry = to.scale < from.scale ? 1 : 0;
  const mayFail = to.precision - to.scale < from.precision - from.scale + carry;
  const mayLose = to.scale < from.scale;
  return { allowed: true, mayFail, mayLose };
}

type TimeOfDay = Extract<DataType, { kind: "time32" | "time64" | "duration" }>;

function isTimeOfDay(type: DataType): type is TimeOfDay {
  return type.kind === "time32" || type.kind === "time64";
}

/**
 * The type that shows what a cast of a text to a time cuts: the engine's SQL silently drops the time of a text that becomes
 * a date, and fractions of a second. `to` itself if it is none.
 */
export function finestOf(from: DataType, to: DataType): DataType {
  if ("item" in from && "item" in to)
    return { ...to, item: { ...to.item, type: finestOf(from.item.type, to.item.type) } };
  if (!isTextType(from)) return to;
  if (to.kind === "date32" || to.kind === "date64") return { kind: "timestamp", unit: "us" };
  if (to.kind === "timestamp") return to.unit === "ns" ? to : { ...to, unit: "us" };
  return isTimeOfDay(to) ? { kind: "time64", unit: "ns" } : to;
}

/** Whether a text of `from` may hold more than `to` does, which the engine's SQL cuts without an error. */
export function mayCutText(from: DataType, to: DataType): boolean {
  if ("item" in from && "item" in to) return mayCutText(from.item.type, to.item.type);
  return isTextType(from) && (isPointInTime(to) || isTimeOfDay(to) || to.kind === "decimal128");
}

function ticks(unit: TimeUnit): number {
  return { s: 1, ms: 1e3, us: 1e6, ns: 1e9 }[unit];
}

function isPointInTime(type: DataType): boolean {
  return type.kind === "date32" || type.kind === "date64" || type.kind === "timestamp";
}

// One row per source type, in the order of `pointColumns`: "=" exact, O may fail, L may lose, B both, "." not a cast,
// as measured. The engine checks some of these ranges and wraps others, so this is a table and not a rule.
const pointColumns = [
  ..."date32 date64 s s+zone ms ms+zone us us+zone ns ns+zone".split(" "),
  ..."time32(s) time32(ms) time64(us) time64(ns)".split(" "),
];
const pointVerdicts: Readonly<Record<string, string>> = {
  date32: "= = = O = O L B L L . . . .",
  date64: "L = L B = O L B L L . . . .",
  s: "B O = O O O O B O O B B B B",
  "s+zone": "B O = = O O O O O O B B B B",
  ms: "B = L B = O O B O O B B B B",
  "ms+zone": "B = L L = = O O O O B B B B",
  us: "B L L B L B = B O O B B B B",
  "us+zone": "B L L L L L = = O O B B B B",
  ns: "L L L L L L L L = = L L L L",
  "ns+zone": "L L L L L L L L = = L L L L",
};

function pointInTimeVerdict(from: DataType, to: DataType): CastVerdict & { allowed: true } {
  const row = pointVerdicts[pointName(from)]!.split(" ");
  const mark = row[pointColumns.indexOf(pointName(to))];
  if (sameType(from, to)) return exact;
  const verdict = { "=": exact, O: fails, L: loses, B: failsAndLoses }[mark as "=" | "O" | "L" | "B"];
  // Most zones skip some local times and repeat others when clocks change; the engine refuses both.
  return readsLocalTime(from, to) ? { ...verdict, mayFail: true } : verdict;
}

/**
 * Whether a cast reads a time without a zone as local time of a zone other than UTC. The inverse cast keeps the instant
 * instead, so it gives a different time.
 */
export function readsLocalTime(from: DataType, to: DataType): boolean {
  if (!isPointInTime(from) || !isPointInTime(to)) return false;
  const zoneOf = (type: DataType) => (type.kind === "timestamp" ? type.zone : undefined);
  return zoneOf(from) === undefined && (zoneOf(to) ?? "UTC") !== "UTC";
}

function pointName(type: DataType): string {
  if (type.kind === "timestamp") return type.zone === undefined ? type.unit : `${type.unit}+zone`;
  return isTimeOfDay(type) ? `${type.kind}(${type.unit})` : type.kind;
}

type ListLike = Extract<DataType, { kind: "list" | "largeList" | "fixedSizeList" }>;

function isListLike(type: DataType): type is ListLike {
  return type.kind === "list" || type.kind === "largeList" || type.kind === "fixedSizeList";
}

function listVerdict(from: ListLike, to: ListLike): CastVerdict {
  if (from.kind === "fixedSizeList" && to.kind === "fixedSizeList" && from.length !== to.length)
    return refused("the engine never changes the length of a vector; recreate the column with retypeColumn's using");
  const items = castVerdict(from.item.type, to.item.type);
  if (!items.allowed) return items;
  if (from.kind === "fixedSizeList" && !to.item.nullable)
    return refused("the items of a fixed size list are nullable; leave out notNull()");
  const wrongLength = from.kind !== "fixedSizeList" && to.kind === "fixedSizeList";
  const mayHaveNulls = from.item.nullable && !to.item.nullable;
  return { ...items, mayFail: items.mayFail || wrongLength || mayHaveNulls };
}

function dictionaryVerdict(from: DataType, to: DataType): CastVerdict {
  const value = (type: DataType) => (type.kind === "dictionary" ? type.value : type);
  const values = castVerdict(value(from), value(to));
  if (!values.allowed) return values;
  if (to.kind !== "dictionary") return values;
  if (
    to.value.kind === "bool" ||
    !(isNumberType(to.value) || isTextType(to.value) || isBinary(to.value)) ||
    to.value.kind === "decimal128"
  )
    return refused("the engine builds dictionaries of integers, floats, text and binary only");
  // The cast fails if there are more distinct values than the index type can number.
  return { ...values, mayFail: true };
}

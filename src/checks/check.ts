/**
 * Plain checks of values from outside: settings, options, answers and rows. A run with nothing pending needs no others.
 * Steps, plans and requests are checked with zod, which takes about as long to load as such a run takes.
 */
import { isPlainObject } from "./realm.ts";
import { secondsProblem, longestSeconds } from "../time/durations.ts";

/** What is wrong with a value. */
export interface WrongValue {
  /** The keys that lead to the wrong part of the value. */
  readonly path: readonly (string | number)[];
  /** The rest of a sentence that begins with the path, such as `must be true or false`. */
  readonly message: string;
  /** Set if the object at `path` has a key that is not known. */
  readonly unknown?: { readonly key: string; readonly known: readonly string[] };
}

/** The problems of a value, in the order of its parts. */
export type Check = (value: unknown) => readonly WrongValue[];

/** The check of each member of an object. */
export type Shape<Checked> = Readonly<Record<keyof Checked, Check>>;

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isText(value: unknown): value is string {
  return typeof value === "string";
}

export function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

/** Checks a condition. */
export function must(holds: (value: unknown) => boolean, message: string): Check {
  return (value) => (holds(value) ? [] : [{ path: [], message }]);
}

/** Checks a text and a condition on it. */
export function textThat(holds: (text: string) => boolean, message: string): Check {
  return must((value) => isText(value) && holds(value), message);
}

export const text = (message: string) => textThat(() => true, message);

/** Checks a text that is not empty. */
export const filledText = (message: string) => textThat((value) => value !== "", message);

export function oneOf(words: readonly unknown[], message: string): Check {
  return must((value) => words.includes(value), message);
}

export const yesOrNo = oneOf([true, false], "must be true or false");

export function wholeNumber(least: number, message: string): Check {
  return must((value) => Number.isSafeInteger(value) && (value as number) >= least, message);
}

/** Checks a duration in seconds. */
export function seconds(least: number): Check {
  return must((value) => isNumber(value) && value >= least && value <= longestSeconds, secondsProblem(least));
}

export function optional(check: Check): Check {
  return (value) => (value === undefined ? [] : check(value));
}

/** The problems of the first check that finds any. */
export function allOf(...checks: readonly Check[]): Check {
  return (value) => {
    for (const check of checks) {
      const problems = check(value);
      if (problems.length > 0) return problems;
    }
    return [];
  };
}

export function listOf(item: Check, message: string): Check {
  return allOf(must(Array.isArray, message), (list) =>
    // A hole is a value that is missing.
    Array.from(list as readonly unknown[]).flatMap((value, index) => within(index, item(value))),
  );
}

/** Checks an object with any keys. */
export function recordOf(member: Check, message: string): Check {
  return allOf(must(isPlainObject, message), (record) =>
    Object.entries(record as object).flatMap(([key, value]) => within(key, member(value))),
  );
}

/** Checks an object with these members, which may have others too. */
export function objectWith(shape: Readonly<Record<string, Check>>, message: string): Check {
  return allOf(must(isObject, message), (object) =>
    Object.entries(shape).flatMap(([key, check]) => within(key, check((object as Record<string, unknown>)[key]))),
  );
}

/** Checks an object with these members and no others. */
export function exactObject(shape: Readonly<Record<string, Check>>, message: string): Check {
  const members = objectWith(shape, message);
  const keys = onlyKeys(Object.keys(shape));
  return (object) => [...members(object), ...(isObject(object) ? keys(object) : [])];
}

/** Checks that an object has no other keys than these. */
export function onlyKeys(known: readonly string[]): Check {
  return (object) =>
    Object.keys(object as object)
      .filter((key) => !known.includes(key))
      .map((key) => ({ path: [], message: `holds the unknown key ${key}`, unknown: { key, known } }));
}

function within(key: string | number, problems: readonly WrongValue[]): readonly WrongValue[] {
  return problems.map((problem) => ({ ...problem, path: [key, ...problem.path] }));
}

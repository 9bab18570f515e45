/**
 * What a value is, in whichever realm it was made. Jest, `node:vm` and some bundlers run a program in a realm of its own,
 * with other classes than those with which Node and the engine make errors: `instanceof` is false there.
 */
import { types } from "node:util";

export function isError(value: unknown): value is Error {
  return types.isNativeError(value) || value instanceof Error;
}

/** Whether a value is an object, but no array and no instance of a class, such as a Map. */
export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype = Object.getPrototypeOf(value) as object | null;
  return prototype === null || Object.hasOwn(prototype, "isPrototypeOf");
}

/** Loads the queries of an application, with which the values of a new embedding model are evaluated. */
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { isNumber, isObject, isText } from "../../../checks/check.ts";
import { evaluate, importProblem } from "../../../migrations/evaluate.ts";
import type { RowValues } from "../../../schema/row-values.ts";
import { codeFailed } from "../calls/fill-failed.ts";

/** What the module exports, in a list or as what a function returns. */
export interface EvaluationQuery {
  /** What the code computes a vector from: the text of the only column in `from`, or an object with these columns. */
  readonly query: string | Readonly<Record<string, unknown>>;
  /** The keys of the rows that it should find. */
  readonly expected?: readonly (string | number | bigint)[] | undefined;
  /** Its vector by the old model; computed with the code of `down` when absent, if the step has that. */
  readonly old?: ArrayLike<number> | undefined;
  /** Its vector by the new model; computed with the code of the step when absent. */
  readonly new?: ArrayLike<number> | undefined;
}

/** A query with what the code gets for it. */
export interface LoadedQuery {
  readonly text: string;
  readonly sources: RowValues;
  readonly expected: readonly string[] | undefined;
  readonly old: readonly number[] | undefined;
  readonly new: readonly number[] | undefined;
}

/** Throws FillFailed if they can't be used. */
export async function loadQueries(
  file: string,
  folder: string,
  from: readonly string[],
): Promise<readonly LoadedQuery[]> {
  const url = pathToFileURL(resolve(folder, file)).href;
  const list = await exported(url).catch((error: unknown) => {
    throw codeFailed(file, `: ${importProblem(error, url)}`);
  });
  if (!Array.isArray(list)) throw codeFailed(file, ": its default export is no list of queries, nor a function of one");
  if (list.length === 0) throw codeFailed(file, ": it has no queries");
  return list.map((one: unknown, index) => {
    const problem = problemOf(one, from);
    if (problem !== undefined) throw codeFailed(file, `: query ${index + 1} ${problem}`);
    return loaded(one as EvaluationQuery, from);
  });
}

async function exported(url: string): Promise<unknown> {
  // The queries may come from a database of the application, and take any time.
  const module = (await evaluate(url, Infinity)) as { readonly default?: unknown };
  return typeof module.default === "function" ? await (module.default as () => unknown)() : module.default;
}

function problemOf(one: unknown, from: readonly string[]): string | undefined {
  if (!isObject(one)) return "is no object";
  const { query, expected, old, new: fresh } = one;
  if (isText(query) && from.length > 1)
    return `is a text, and the step computes from ${from.join(", ")}: give \`query\` an object with these columns`;
  if (!isText(query) && !isObject(query)) return "has no `query`, a text or an object";
  const other = isObject(query) ? Object.keys(query).find((name) => !from.includes(name)) : undefined;
  if (other !== undefined) return `has ${other}, which is not one of the columns in \`from\`: ${from.join(", ")}`;
  if (expected !== undefined && (!Array.isArray(expected) || expected.length === 0 || !expected.every(isKey)))
    return "needs a list of keys as `expected`, or none";
  const vectors = [old, fresh].filter((vector) => vector !== undefined);
  return vectors.every(isVector) ? undefined : "needs vectors as `old` and `new`, or none";
}

function isKey(value: unknown): boolean {
  return isText(value) || isNumber(value) || typeof value === "bigint";
}

function isVector(value: unknown): boolean {
  return (Array.isArray(value) || ArrayBuffer.isView(value)) && [...(value as readonly unknown[])].every(isNumber);
}

function loaded({ query, expected, old, new: fresh }: EvaluationQuery, from: readonly string[]): LoadedQuery {
  return {
    text: isText(query) ? query : JSON.stringify(query),
    sources: isText(query) ? { [from[0]!]: query } : (query as RowValues),
    // Equal keys would count twice.
    expected: expected && [...new Set(expected.map(String))],
    old: old && Array.from(old),
    new: fresh && Array.from(fresh),
  };
}

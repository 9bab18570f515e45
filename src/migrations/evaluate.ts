/** Runs code of the user: evaluates migrations, the configuration and the schema, and calls functions of these. */
import { existsSync } from "node:fs";
import { basename } from "node:path";
import { isError } from "../checks/realm.ts";
import { fileURLToPath } from "node:url";
import { compileFunction, constants, runInThisContext } from "node:vm";
import { firstLine } from "../errors/migrate-error.ts";

/** Imports a module. */
export async function evaluate(url: string, seconds?: number): Promise<unknown> {
  return await settled(() => load(url), seconds);
}

/**
 * Jest and some pools of Vitest run a program in a realm of its own, whose import() knows no TypeScript, or does not work
 * at all. There, Node's loader is used, as the command does.
 */
async function load(url: string): Promise<unknown> {
  const isOwnRealm = runInThisContext("Error") === Error;
  // The comments keep bundlers from replacing it.
  if (isOwnRealm) return await import(/* webpackIgnore: true */ /* @vite-ignore */ url);
  const importModuleDynamically = constants.USE_MAIN_CONTEXT_DEFAULT_LOADER;
  return await (compileFunction("return import(url)", ["url"], { importModuleDynamically }) as typeof load)(url);
}

/**
 * Why a module of the user can't be used, as far as that shows without evaluating it: Node does not accept its code,
 * something that it imports is missing, or it has no default export. Undefined if nothing shows.
 */
export async function linkProblem(url: string): Promise<string | undefined> {
  // All that a module imports is linked before the first of it is evaluated, and the first throws here.
  const module = JSON.stringify(url);
  const code = `import 'data:text/javascript,throw null'; export { default } from ${module}`;
  try {
    await load(`data:text/javascript,${encodeURIComponent(code)}`);
  } catch (error) {
    if (error === null) return undefined;
    const problem = importProblem(error, url);
    return problem.includes(`'${url}' does not provide an export named 'default'`)
      ? "it has no default export"
      : problem;
  }
  return undefined;
}

/** The code of the user that is awaited now: how each gives up. */
const awaited = new Set<() => void>();

/** Whether code of the user is awaited that gives up by itself when nothing is left that could settle its promise. */
export function isCodeAwaited(): boolean {
  return awaited.size > 0;
}

function giveUpAll(): void {
  for (const giveUp of awaited) giveUp();
}

/**
 * Runs code of the user. Throws if it awaits a promise that never settles: Node would exit with 0, or wait forever if
 * something else keeps the process alive. Code that computes endlessly can't be stopped from here. `seconds`: Infinity
 * for code that may take any time.
 */
export async function settled<Result>(code: () => Promise<Result>, seconds = 60): Promise<Result> {
  let giveUp = () => {};
  let timer: NodeJS.Timeout | undefined;
  const stuck = new Promise<never>((_, reject) => {
    const late = `it was not evaluated within ${seconds} s (--load-timeout)`;
    giveUp = () => reject(new Error("it awaits something that never comes"));
    if (Number.isFinite(seconds)) timer = setTimeout(() => reject(new Error(late)), seconds * 1000).unref();
  });
  // One listener for all, because Node warns of many.
  if (awaited.size === 0) process.on("beforeExit", giveUpAll);
  awaited.add(giveUp);
  try {
    return await Promise.race([code(), stuck]);
  } finally {
    awaited.delete(giveUp);
    if (awaited.size === 0) process.off("beforeExit", giveUpAll);
    clearTimeout(timer);
  }
}

/** What went wrong during the evaluation of the module at `url`, with advice if there is any. */
export function importProblem(cause: unknown, url: string): string {
  const place = errorPosition(cause, url);
  const problem = `${firstLine(cause)}${place === undefined ? "" : ` (line ${place.line})`}`;
  const code = (cause as { code?: unknown } | null)?.code;
  if (code === "EACCES") return `${problem}; let the user who runs this read the file`;
  if (code === "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX")
    return `${problem}; Node only strips types, so leave out enums, namespaces and parameter properties`;
  if (code === "ERR_UNKNOWN_FILE_EXTENSION" && /\.[mc]?ts$/.test(fileURLToPath(url)))
    return `${problem}; leave out --no-experimental-strip-types, or write it in JavaScript`;
  if (/outside a module|Unexpected token 'export'|exports is not defined/.test(problem))
    return `${problem}; put "type": "module" into its package.json, or name the file .m${fileURLToPath(url).slice(-2)}`;
  if (/does not provide an export named/.test(problem))
    return `${problem}; a type is imported with import type, or misspelt`;
  const { url: missing } = (cause ?? {}) as { url?: unknown };
  if (code === "ERR_MODULE_NOT_FOUND" && typeof missing === "string" && missing.startsWith("file:")) {
    const meant = meantFile(fileURLToPath(missing));
    if (meant !== undefined) return `${problem}; the file there is ${meant}: import it with that name`;
  }
  const undefinedName = /^(\w+) is not defined$/.exec(firstLine(cause))?.[1];
  if (undefinedName !== undefined)
    return `${problem}; if it is one of lance-migrate, add import { ${undefinedName} } from "lance-migrate"`;
  return problem;
}

/** The name of a file beside a missing one that differs in its extension; undefined if there is none. */
export function meantFile(path: string): string | undefined {
  const bare = path.replace(/\.[cm]?[jt]s$/, "");
  const found = ["ts", "js", "mts", "mjs", "cts", "cjs"].map((extension) => `${bare}.${extension}`).find(existsSync);
  return found === undefined ? undefined : basename(found);
}

/** Removes the source line that Node puts before the stack of a syntax error, because it may contain an API key. */
export function withoutSource(cause: unknown): { readonly cause: unknown } {
  const stack = isError(cause) ? (cause.stack ?? "") : "";
  const start = stack.search(/^\w*Error\b/m);
  if (isError(cause) && start > 0) cause.stack = stack.slice(start);
  return { cause };
}

/**
 * The place in the module at `url`: before the stack of a syntax error, or in the first stack frame of the module. If
 * Node first reads the module as CommonJS, the stack contains its path instead of its URL.
 */
export function errorPosition(
  cause: unknown,
  url: string,
): { readonly line: number; readonly column: number } | undefined {
  const stack = isError(cause) ? (cause.stack ?? "") : "";
  for (const rest of [url, fileURLToPath(url)].flatMap((name) => stack.split(`${name}:`).slice(1))) {
    const line = Number.parseInt(rest);
    if (!Number.isInteger(line)) continue;
    // For a syntax error, a caret under the source line marks the column. In a stack frame, the column follows the
    // line.
    const caret = /^\d+\n(?:[^\n]*\n){1,4}?( *)\^/.exec(rest)?.[1]?.length;
    return { line, column: caret === undefined ? Number(/^\d+:(\d+)/.exec(rest)?.[1] ?? 1) : caret + 1 };
  }
  return undefined;
}

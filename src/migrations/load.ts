/**
 * Evaluates migration files, and checks what they export. Node itself strips the types, so a migration is an ordinary
 * module.
 */
import { pathToFileURL } from "node:url";
import { catchMigrateError, isMigrateError, MigrateError, someOf } from "../errors/migrate-error.ts";
import { versionBefore } from "../steps/after.ts";
import { recordCalls, copyCalls } from "../steps/define/call-sites.ts";
import { parseStep, type Step } from "../steps/registry.ts";
import { acceptances, type Acceptance } from "./acceptance.ts";
import { canonicalJson, checksumOf } from "./checksum.ts";
import { evaluate, importProblem, errorPosition, withoutSource } from "./evaluate.ts";
import type { MigrationFile } from "./list-files.ts";
import { formatFormer, formerLists, formerProblem, type FormerList } from "./former-names.ts";

export interface Migration extends MigrationFile {
  readonly steps: readonly Step[];
  /** The version that was given to `after`. */
  readonly after?: string | undefined;
  /**
   * The steps that roll it back, if the file exports them. Not part of the checksum, so that they can be fixed later.
   */
  readonly down?: readonly Step[] | undefined;
  /** The steps that ran under its former names, if they differ from `steps`. */
  readonly ran?: readonly (readonly Step[])[] | undefined;
  /** The consent that the file gives. Not part of the checksum either. */
  readonly accepts?: readonly Acceptance[] | undefined;
  readonly checksum: string;
}

/** How a file is loaded by a caller that wants to receive all of its problems. */
export interface LoadOptions {
  /** Receives each problem. `value`: the invalid step, if there is one. */
  readonly refuse: (problem: MigrateError, value?: unknown) => void;
  /** Whether to record the calls that build the steps; see `callsOf`. */
  readonly recordsCalls?: boolean | undefined;
}

const throwing: LoadOptions = {
  refuse: (problem) => {
    throw problem;
  },
};

/**
 * Throws ERR_FILE_UNREADABLE, ERR_FILE_EXPORTS, ERR_STEP_INVALID. With `refuse`, it passes each problem to it instead:
 * the result then lacks the invalid parts, and an invalid step is a hole in its list.
 */
export async function loadMigration(
  file: MigrationFile,
  seconds?: number,
  reading: LoadOptions = throwing,
): Promise<Migration> {
  const { refuse, recordsCalls = false } = reading;
  let module: unknown;
  try {
    module = await (recordsCalls ? recordCalls(() => importFile(file, seconds, "&calls")) : importFile(file, seconds));
  } catch (error) {
    if (!isMigrateError(error)) throw error;
    refuse(error);
    return { ...file, steps: [], checksum: checksumOf([]) };
  }
  return checkExports(file, module, reading);
}

/** Its steps when it is evaluated once more. Throws as `loadMigration`. */
export async function stepsAgain(file: MigrationFile, seconds?: number): Promise<readonly Step[]> {
  return checkExports(file, await importFile(file, seconds, "&again"), { refuse() {} }).steps;
}

/** The migration that a module exports. Throws or passes the same problems as `loadMigration`. */
export function checkExports(file: MigrationFile, module: unknown, { refuse }: LoadOptions = throwing): Migration {
  const orRefuse = <Result>(work: () => Result): Result | undefined =>
    catchMigrateError(work, (problem) => {
      refuse(problem);
      return undefined;
    });
  const { file: name } = file;
  const stepsOf = (of: "up" | "down") => {
    const values = orRefuse(() => exportedSteps(name, module, of));
    return values && parseSteps(name, values, refuse, of === "up" ? undefined : of);
  };
  const steps = stepsOf("up") ?? [];
  const down = isExported(module, "down") ? stepsOf("down") : undefined;
  for (const list of formerLists) orRefuse(() => checkFormer(file, module, list));
  const ran = orRefuse(() => exportedRan(name, module, refuse));
  const accepts = orRefuse(() => exportedAccepts(name, module));
  const after = versionBefore(exported(module, "up"));
  return { ...file, steps, after, down, ran, accepts, checksum: checksumOf(steps) };
}

function isExported(module: unknown, name: Exported): boolean {
  return [module, (module as { readonly default?: unknown }).default].some(
    (one) => typeof one === "object" && one !== null && name in one,
  );
}

/** Former names are read from the text, so the exported list must equal it. */
function checkFormer(migration: MigrationFile, module: unknown, list: FormerList): void {
  const { file, [list]: former = [] } = migration;
  const isRead = canonicalJson(exported(module, list) ?? []) === canonicalJson(former.map(formatFormer));
  const problem = isRead
    ? formerProblem(list, former)
    : `exports ${list}, which must be a list of texts such as "0007_add_tags 3c6e0b8a9c15224a", written out`;
  if (problem === undefined) return;
  throw new MigrateError("ERR_FILE_EXPORTS", { file, problem, list });
}

function exportedRan(file: string, module: unknown, refuse: LoadOptions["refuse"]): Migration["ran"] {
  const ran = exported(module, "ran");
  if (ran === undefined) return undefined;
  if (Array.isArray(ran) && ran.every((steps) => Array.isArray(steps)))
    return ran.map((steps: readonly unknown[]) => parseSteps(file, Array.from(steps), refuse, "ran"));
  const problem = "exports ran, which must be a list of lists of steps";
  throw new MigrateError("ERR_FILE_EXPORTS", { file, problem, list: "ran" });
}

function exportedAccepts(file: string, module: unknown): readonly Acceptance[] | undefined {
  const accepts = exported(module, "accepts");
  if (accepts === undefined) return undefined;
  if (Array.isArray(accepts) && accepts.every((one) => acceptances.includes(one as Acceptance)))
    return accepts as readonly Acceptance[];
  const problem = `exports accepts, which must be an array of ${acceptances.map((one) => `"${one}"`).join(" and ")}`;
  throw new MigrateError("ERR_FILE_EXPORTS", { file, problem, list: "accepts" });
}

function parseSteps(
  file: string,
  values: readonly unknown[],
  refuse: LoadOptions["refuse"],
  of: "down" | "ran" | undefined,
): readonly Step[] {
  const steps: Step[] = [];
  for (const [index, value] of values.entries()) {
    const parsed = parseStep(value);
    if ("step" in parsed) {
      copyCalls(value, parsed.step);
      steps[index] = parsed.step;
      continue;
    }
    const { kind, problem } = parsed;
    refuse(new MigrateError("ERR_STEP_INVALID", { file, step: index + 1, of, kind, problem }), value);
  }
  return steps;
}

/** `more`: a suffix of the URL, so that Node does not return the module that other calls have loaded. */
async function importFile({ path, file, textHash }: MigrationFile, seconds?: number, more = ""): Promise<unknown> {
  // Because of the hash, a long-running process loads an edited file again.
  const url = `${pathToFileURL(path).href}?${textHash.slice(0, 16)}${more}`;
  try {
    return await evaluate(url, seconds);
  } catch (cause) {
    const problem = importProblem(cause, url);
    throw new MigrateError(
      "ERR_FILE_UNREADABLE",
      { file, problem, ...errorPosition(cause, url) },
      withoutSource(cause),
    );
  }
}

type Exported = "up" | "down" | "ran" | "accepts" | FormerList;

function exported(module: unknown, name: Exported): unknown {
  const all = module as Partial<Record<Exported, unknown>> & { readonly default?: Partial<Record<Exported, unknown>> };
  // The exports of a CommonJS file are its default export.
  return all[name] ?? all.default?.[name];
}

/** Whether an error states that a migration has an empty list of steps, which are yet to be written. */
export function isUnfinished(error: unknown): boolean {
  return isMigrateError(error, "ERR_FILE_EXPORTS") && error.details.list === "up" && error.details.isEmpty === true;
}

function exportedSteps(file: string, module: unknown, name: "up" | "down"): readonly unknown[] {
  const steps = exported(module, name);
  // Array.from turns a hole into undefined, which is reported as an invalid step. map() would skip it.
  if (Array.isArray(steps) && steps.length > 0) return Array.from(steps as readonly unknown[]);
  const problem = stepsProblem(steps, module, name);
  throw new MigrateError("ERR_FILE_EXPORTS", { file, problem, list: name, isEmpty: Array.isArray(steps) || undefined });
}

function stepsProblem(steps: unknown, module: unknown, name: "up" | "down"): string {
  if (steps === undefined) {
    const names = exportedNames(module);
    if (names.includes(name)) return `exports ${name} without a value`;
    return `exports no ${name}; it exports ${names.length === 0 ? "nothing" : `only ${someOf(names)}`}`;
  }
  if (typeof steps === "function") return `exports ${name} as a function; steps are data, not code`;
  if (Array.isArray(steps)) return `exports no steps in ${name}: its list is empty`;
  return `exports ${name === "up" ? "an" : "a"} ${name} that is no array`;
}

/** The names that a module exports. Those of a CommonJS file are members of its default export. */
function exportedNames(module: unknown): readonly string[] {
  const { default: inner, "module.exports": _, ...all } = module as Readonly<Record<string, unknown>>;
  const isObject = typeof inner === "object" && inner !== null && !Array.isArray(inner);
  return [
    ...new Set([...Object.keys(all), ...(isObject ? Object.keys(inner) : inner === undefined ? [] : ["default"])]),
  ];
}

/** Finds, evaluates and checks `migrate.config.ts`. */
import { existsSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import {
  exactObject,
  filledText,
  allOf,
  listOf,
  must,
  objectWith,
  oneOf,
  optional,
  recordOf,
  seconds,
  text,
  textThat,
  wholeNumber,
  yesOrNo,
  type Check,
  type WrongValue,
  type Shape,
} from "../checks/check.ts";
import { MigrateError } from "../errors/migrate-error.ts";
import { acceptances } from "../migrations/acceptance.ts";
import { evaluate, importProblem, withoutSource } from "../migrations/evaluate.ts";
import type { Guards } from "../plan/assess/guards.ts";
import { usualDatabase } from "./usual-database.ts";
import { rollbackClasses } from "../plan/rollback/rollback-classes.ts";
import { defaultSeconds, type CoreConfig } from "./config.ts";
import type { Hooks } from "../run/hooks.ts";
import { usualLedger } from "../run/execute/version-names.ts";
import { similarName, tableNameProblem } from "../schema/names.ts";
import { targetKinds, type TargetConfig, type TargetLoaders } from "../targets/index.ts";
import { databasesCheck } from "./databases.ts";

/** Checks a list of some of these words. */
export function wordsOf(words: readonly string[]): Check {
  const known = words.map((word) => `"${word}"`).join(", ");
  return listOf(oneOf(words, `must be one of ${known}`), `must be an array of ${known}`);
}

const guardsShape: Shape<Guards> = {
  accepts: optional(wordsOf(acceptances)),
  forbid: optional(wordsOf(rollbackClasses)),
  maxRewriteBytes: optional(wholeNumber(0, "must be a number of bytes")),
  mustExist: optional(yesOrNo),
};

const contractsCheck: Check = (value) => (typeof value === "string" ? onePath(value) : severalPaths(value));
const onePath = filledText("must be the path of a folder or a file, or an array of paths");
const severalPaths = listOf(onePath, "must be the path of a folder or a file, or an array of paths");

const hook = optional(must((value) => typeof value === "function", "must be a function"));
const hooksShape: Shape<Hooks> = { beforeRun: hook, afterRun: hook, beforeMigration: hook, afterMigration: hook };

const configShape = (kinds: TargetLoaders): Shape<CoreConfig> => ({
  migrations: optional(filledText("must be a folder's path")),
  schema: optional(filledText("must be a file's path")),
  ledger: optional(
    allOf(
      text("must be a table's name"),
      textThat((name) => tableNameProblem(name) === undefined, "must be a table's name: letters, digits, _, - and ."),
      // On some services the ledger is kept in the names of tables that begin with this name. It must leave them room.
      textThat((name) => name.length <= 60, "must be at most 60 characters long"),
    ),
  ),
  target: optional(text("must be the name of a target")),
  targets: optional(
    allOf(
      // Each target's own settings are checked when it is opened.
      recordOf(
        objectWith(
          {
            kind: text(`must be one of ${targetKinds(kinds).join(", ")}`),
            guards: optional(exactObject(guardsShape, "must be an object")),
            push: optional(yesOrNo),
            contracts: optional(contractsCheck),
            databases: optional(databasesCheck),
          },
          "must be an object with a kind",
        ),
        "must be an object of targets",
      ),
      must((targets) => Object.keys(targets as object).length > 0, "must hold at least one target"),
    ),
  ),
  leaseSeconds: optional(seconds(1)),
  waitSeconds: optional(seconds(0)),
  python: optional(filledText("must be a program")),
  hooks: optional(exactObject(hooksShape, "must be an object of functions")),
});

type DefaultedKey = "migrations" | "ledger" | "targets" | "leaseSeconds" | "waitSeconds";

/** A configuration with its defaults filled in, and its origin. */
export interface LoadedConfig extends Omit<CoreConfig, DefaultedKey>, Required<Pick<CoreConfig, DefaultedKey>> {
  /** The file's name, for messages. */
  readonly file: string;
  /** Whether there is no file. */
  readonly isDefault?: true;
  /** The folder that relative paths start from. */
  readonly folder: string;
  /** The kinds of targets that features add. */
  readonly kinds: TargetLoaders;
}

/** In this order. */
export const configNames = ["migrate.config.ts", "migrate.config.mts", "migrate.config.js", "migrate.config.mjs"];

/** The keys that features add, with their checks. */
export type AddedSettings = Readonly<Record<string, Check>>;

/** What features add. */
export interface AddedToConfig extends Pick<LoadedConfig, "kinds"> {
  readonly settings: AddedSettings;
}

const nothing: AddedToConfig = { settings: {}, kinds: {} };

/** Loads the configuration at `path`, else the one in `folder`, else the defaults. */
export async function loadConfig(
  folder: string,
  path?: string,
  loadSeconds?: number,
  added: AddedToConfig = nothing,
): Promise<LoadedConfig> {
  const file =
    path === undefined
      ? configNames.map((name) => join(folder, name)).find((name) => existsSync(name))
      : resolve(folder, path);
  if (file === undefined)
    return { ...withDefaults({}, added), file: "the default configuration", isDefault: true, folder };
  if (!existsSync(file) || !statSync(file).isFile())
    throw new MigrateError("ERR_CONFIG_MISSING", { file: path ?? file });
  return {
    ...parseConfig(await importConfig(file, loadSeconds), basename(file), added),
    file: basename(file),
    folder: dirname(file),
  };
}

/** A configuration that is given as an object, with paths relative to `folder`. Throws ERR_CONFIG_INVALID. */
export function givenConfig(config: unknown, folder: string, added: AddedToConfig = nothing): LoadedConfig {
  const file = "the configuration";
  return { ...parseConfig(config, file, added), file, folder };
}

async function importConfig(file: string, loadSeconds?: number): Promise<unknown> {
  const url = pathToFileURL(file).href;
  let module: { default?: unknown };
  try {
    module = (await evaluate(url, loadSeconds)) as { default?: unknown };
  } catch (cause) {
    throw new MigrateError(
      "ERR_CONFIG_UNREADABLE",
      { file: basename(file), problem: importProblem(cause, url) },
      withoutSource(cause),
    );
  }
  if (module.default === undefined)
    throw new MigrateError("ERR_CONFIG_INVALID", {
      file: basename(file),
      problem: "exports nothing by default; write export default defineConfig({ … })",
    });
  return module.default;
}

function parseConfig(value: unknown, file: string, added: AddedToConfig): ReturnType<typeof withDefaults> {
  const problem = problemInSettings(
    exactObject({ ...configShape(added.kinds), ...added.settings }, "must be an object")(value),
  );
  if (problem !== undefined) throw new MigrateError("ERR_CONFIG_INVALID", { file, problem });
  return withDefaults(value as CoreConfig, added);
}

const usualTarget: TargetConfig = { kind: "lance", uri: usualDatabase };

function withDefaults(given: CoreConfig, { settings, kinds }: AddedToConfig): Omit<LoadedConfig, "file" | "folder"> {
  return {
    ...given,
    // Members may be inherited.
    ...Object.fromEntries(Object.keys(settings).map((key) => [key, given[key as keyof CoreConfig]])),
    kinds,
    target: given.target,
    hooks: given.hooks,
    schema: given.schema,
    python: given.python,
    migrations: given.migrations ?? "migrations",
    ledger: given.ledger ?? usualLedger,
    targets: given.targets ?? { local: usualTarget },
    leaseSeconds: given.leaseSeconds ?? defaultSeconds.lease,
    waitSeconds: given.waitSeconds ?? defaultSeconds.wait,
  };
}

/** One of the problems of settings, as a sentence; undefined if there are none. */
export function problemInSettings(problems: readonly WrongValue[]): string | undefined {
  // Report an unknown key first: it is often a misspelling of a key that is reported as missing.
  const problem = problems.find(({ unknown }) => unknown !== undefined) ?? problems[0];
  if (problem === undefined) return undefined;
  const { path, message, unknown } = problem;
  if (unknown === undefined) return `${path.join(".")} ${message}`.trim();
  const similar = similarName(unknown.key, unknown.known);
  const place = path.length === 0 ? "" : `${path.join(".")}: `;
  return `${place}there is no setting ${unknown.key}${similar === undefined ? "" : `; did you mean ${similar}?`}`;
}

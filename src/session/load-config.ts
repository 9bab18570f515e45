/** Finds, evaluates and checks `migrate.config.ts`. */
import { existsSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { z } from "zod";
import { MigrateError } from "../errors/migrate-error.ts";
import { acceptances } from "../migrations/acceptance.ts";
import { evaluate, importProblem, withoutSource } from "../migrations/evaluate.ts";
import type { Guards } from "../plan/assess/guards.ts";
import type { RollbackClass } from "../plan/rollback/rollback-class.ts";
import type { RuleId, RuleSettings } from "../commands/lint/findings.ts";
import type { OtherTarget } from "../commands/lint/rules/rule.ts";
import { defaultSeconds } from "./config.ts";
import { usualLedger } from "../run/execute/version-names.ts";
import { similarName, tableNameProblem } from "../schema/names.ts";
import { loadTarget, targetKinds } from "../targets/index.ts";
import { seconds } from "../time/durations.ts";
import type { Target } from "../targets/contract/target.ts";

const classes = ["exact", "checked", "restore", "none"] as const satisfies readonly RollbackClass[];

const guardsShape = {
  accepts: arrayOf(acceptances),
  forbid: arrayOf(classes),
  maxRewriteBytes: z.int("must be a number of bytes").min(0, "must be a number of bytes").optional(),
} satisfies Record<keyof Guards, z.ZodType>;

export function arrayOf<Word extends string>(words: readonly Word[]) {
  const known = words.map((word) => `"${word}"`).join(", ");
  return z.array(z.enum(words, `must be one of ${known}`), `must be an array of ${known}`).optional();
}

const levels = ["off", "note", "warning", "error"] as const satisfies readonly NonNullable<RuleSettings[RuleId]>[];

const ruleSettings = z
  .record(
    z.string(),
    z.enum(levels, `must be one of ${levels.map((level) => `"${level}"`).join(", ")}`),
    "must be an object of rules",
  )
  .optional();

/** Matches the paths to which `migrate types` may write the application's types. */
export const typesPattern = /^(?!.*\.d\.m?ts$).*[^/\\]\.m?ts$/;

const configShape = {
  migrations: z.string("must be a folder's path").min(1, "must be a folder's path").default("migrations"),
  schema: z.string("must be a file's path").min(1, "must be a file's path").default("schema.ts"),
  types: z
    .string("must be a .ts file's path")
    .regex(typesPattern, "must be a .ts file's path, and no .d.ts")
    .optional(),
  ledger: z
    .string("must be a table's name")
    .refine((name) => tableNameProblem(name) === undefined, "must be a table's name: letters, digits, _, - and .")
    // On some services the ledger is kept in the names of tables that begin with this name. It must leave them room.
    .refine((name) => name.length <= 60, "must be at most 60 characters long")
    .default(usualLedger),
  target: z.string("must be the name of a target").optional(),
  targets: z
    .record(
      z.string(),
      z.looseObject(
        {
          kind: z.string(`must be one of ${targetKinds.join(", ")}`),
          guards: z.strictObject(guardsShape, "must be an object").optional(),
        },
        "must be an object with a kind",
      ),
      "must be an object of targets",
    )
    .refine((targets) => Object.keys(targets).length > 0, "must hold at least one target")
    .default({ local: { kind: "lance", uri: ".lancedb" } }),
  leaseSeconds: seconds(1).default(defaultSeconds.lease),
  waitSeconds: seconds(0).default(defaultSeconds.wait),
  // The names of rules are not checked here: only `lint` loads the rules.
  lint: z.strictObject({ rules: ruleSettings }, "must be an object").optional(),
};

const configSchema = z.strictObject(configShape, "must be an object");

/** A configuration with its defaults filled in, and its origin. */
export interface LoadedConfig extends z.output<typeof configSchema> {
  /** The file's name, for messages. */
  readonly file: string;
  /** The folder that relative paths start from. */
  readonly folder: string;
}

const names = ["migrate.config.ts", "migrate.config.mts", "migrate.config.js", "migrate.config.mjs"];

/** Loads the configuration at `path`, else the one in `folder`, else the defaults. */
export async function loadConfig(folder: string, path?: string, loadSeconds?: number): Promise<LoadedConfig> {
  const file =
    path === undefined
      ? names.map((name) => join(folder, name)).find((name) => existsSync(name))
      : resolve(folder, path);
  if (file === undefined) return { ...configSchema.parse({}), file: "the default configuration", folder };
  if (!existsSync(file) || !statSync(file).isFile())
    throw new MigrateError("ERR_CONFIG_MISSING", { file: path ?? file });
  return {
    ...parseConfig(await importConfig(file, loadSeconds), basename(file)),
    file: basename(file),
    folder: dirname(file),
  };
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

function parseConfig(value: unknown, file: string): z.output<typeof configSchema> {
  const parsed = configSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const known = [...Object.keys(configShape), ...Object.keys(guardsShape), "rules"];
  throw new MigrateError("ERR_CONFIG_INVALID", { file, problem: problemInSettings(parsed.error, known) });
}

/** One of the problems that zod found, as a sentence. `known`: the names of settings that a misspelt one may mean. */
export function problemInSettings(error: z.ZodError, known: readonly string[]): string {
  // Report an unknown key first: it is often a misspelling of a key that is reported as missing.
  const issue = error.issues.find(({ code }) => code === "unrecognized_keys") ?? error.issues[0]!;
  if (issue.code === "unrecognized_keys") {
    const key = issue.keys[0]!;
    const similar = similarName(key, known);
    const place = issue.path.length === 0 ? "" : `${issue.path.join(".")}: `;
    return `${place}there is no setting ${key}${similar === undefined ? "" : `; did you mean ${similar}?`}`;
  }
  return `${issue.path.join(".")} ${issue.message}`.trim();
}

/** All targets but the chosen one, by their capabilities. Leaves out those that can't be opened, as without an API key. */
export async function otherTargets(config: LoadedConfig, chosen: string): Promise<readonly OtherTarget[]> {
  const names = Object.keys(config.targets).filter((name) => name !== chosen);
  const opened = await Promise.allSettled(names.map(async (name) => await openTarget(config, name)));
  const others = opened.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  await Promise.all(others.map(async (target) => await target.close()));
  return others.map(({ name, capabilities }) => ({ name, capabilities }));
}

/** Opens the target named `chosen`, else the configured or only one. */
export async function openTarget(config: LoadedConfig, chosen?: string): Promise<Target> {
  const known = Object.keys(config.targets);
  const name = chosen ?? config.target ?? (known.length === 1 ? known[0]! : undefined);
  if (name === undefined)
    throw new MigrateError("ERR_CONFIG_INVALID", {
      file: config.file,
      problem: `has several targets (${known.join(", ")}) and does not choose one; set "target" or pass --target`,
    });
  if (!Object.hasOwn(config.targets, name)) throw new MigrateError("ERR_TARGET_UNKNOWN", { name, known });
  const { guards: _, ...given } = config.targets[name]!;
  const module = await loadTarget(given.kind);
  if (module === undefined)
    throw new MigrateError("ERR_CONFIG_INVALID", {
      file: config.file,
      problem: `targets.${name}.kind is ${JSON.stringify(given.kind)}; it must be one of ${targetKinds.join(", ")}`,
    });
  const parsed = module.options.safeParse(given);
  if (!parsed.success) {
    const shape = module.options instanceof z.ZodObject ? Object.keys(module.options.shape) : [];
    throw new MigrateError("ERR_CONFIG_INVALID", {
      file: config.file,
      problem: `targets.${name}: ${problemInSettings(parsed.error, shape)}`,
    });
  }
  return await module.open(parsed.data, { name, folder: config.folder });
}

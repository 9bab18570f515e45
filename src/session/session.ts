/** Opens a configuration together with its target, for the command line and for programs. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { exactObject, optional, type Check } from "../checks/check.ts";
import { usePackagesOf } from "../engine/package/installed-packages.ts";
import { MigrateError } from "../errors/migrate-error.ts";
import { migrationsIn, type MigrationSource } from "../migrations/source.ts";
import { databaseNamed } from "./databases.ts";
import type { CoreConfig } from "./config.ts";
import { configNames, givenConfig, loadConfig, problemInSettings, type LoadedConfig } from "./load-config.ts";
import { sessionShape, type SessionOptions } from "./session-options.ts";
import { addedToConfig, computingIn, type SessionFeature } from "./session-feature.ts";
import { usualDatabase } from "./usual-database.ts";
import { databasesOf, openTarget, targetNamed, type CheckedDatabase } from "./open-target.ts";
import type { MigratorOptions } from "../run/run-context.ts";

/**
 * Throws ERR_USAGE for a wrong option, and for an unknown one: a caller would take an ignored one, such as `dryRun`, for
 * effective. `shape`: the check of each option that is given.
 */
export function checkOptions(options: unknown, shape: Readonly<Record<string, Check>>): void {
  const optionals = Object.fromEntries(Object.entries(shape).map(([name, check]) => [name, optional(check)]));
  const problem = problemInSettings(exactObject(optionals, "options must be an object")(options));
  if (problem !== undefined) throw new MigrateError("ERR_USAGE", { problem });
}

/** A configuration and its migrations. */
export interface Project {
  readonly config: LoadedConfig;
  /** The folder of the migrations. */
  readonly folder: string;
  readonly migrations: MigrationSource;
}

export interface Session extends Pick<Project, "config" | "folder"> {
  /** The name of the target in the configuration. */
  readonly target: string;
  readonly options: MigratorOptions;
  /** Set if the target has several databases and none was chosen. Then `options.target` throws ERR_DATABASE_NEEDED. */
  readonly databases: SessionDatabases | undefined;
  close(): Promise<void>;
}

/** The session of a target that has several databases of which none was chosen. */
export type SessionOfSeveral = Session & { readonly databases: SessionDatabases };

export interface SessionDatabases {
  list(): Promise<readonly CheckedDatabase[]>;
  /** Opens one of them; its target must be closed. */
  open(database: CheckedDatabase): Promise<MigratorOptions>;
}

/** Throws ERR_DATABASE_NEEDED if the target has several databases and none was chosen; ERR_PROJECT_MISSING. */
export function requireDatabase({ databases, target, config }: Session): void {
  if (databases !== undefined) throw new MigrateError("ERR_DATABASE_NEEDED", { target });
  requireProject(config);
}

/**
 * In a wrong folder, or where the configuration was forgotten, a command must not report on an empty database, or create
 * one. Throws ERR_PROJECT_MISSING.
 */
function requireProject({ isDefault, folder }: LoadedConfig): void {
  if (isDefault === true && !existsSync(resolve(folder, usualDatabase)))
    throw new MigrateError("ERR_PROJECT_MISSING", { folder, config: configNames[0]!, database: usualDatabase });
}

/** Opens no target, so it needs no credentials. `given`: the configuration, if it is not that of a file. */
export async function openProject(
  wanted: Pick<SessionOptions, "folder" | "config" | "bundle" | "loadSeconds">,
  features: readonly SessionFeature[] = [],
  given?: CoreConfig,
): Promise<Project> {
  const here = wanted.folder ?? process.cwd();
  const added = addedToConfig(features);
  const config =
    given === undefined
      ? await loadConfig(here, wanted.config, wanted.loadSeconds, added)
      : givenConfig(given, resolve(here), added);
  usePackagesOf(config.folder);
  const folder = resolve(config.folder, config.migrations);
  if (wanted.bundle === undefined) return { config, folder, migrations: migrationsIn(folder, wanted.loadSeconds) };
  const bundles = features.find(({ migrationsInBundle }) => migrationsInBundle !== undefined);
  const migrations = await bundles?.migrationsInBundle?.(resolve(here, wanted.bundle));
  if (migrations === undefined)
    throw new MigrateError("ERR_USAGE", { problem: "migrations can't be read from a bundle" });
  return { config, folder, migrations };
}

/**
 * `given`: the configuration, if it is not that of a file. `anyTarget`: whether any target will do where none is chosen,
 * because the command touches no table.
 */
export async function openSession(
  wanted: SessionOptions,
  features: readonly SessionFeature[] = [],
  given?: CoreConfig,
  anyTarget = false,
): Promise<Session> {
  checkOptions(wanted, sessionShape);
  if (given !== undefined && wanted.config !== undefined)
    throw new MigrateError("ERR_USAGE", { problem: "config can't be used where the configuration itself is given" });
  const { config, folder, migrations } = await openProject(wanted, features, given);
  const [first] = anyTarget ? Object.keys(config.targets) : [];
  const name = targetNamed(config, wanted.target ?? config.target ?? first);
  const { databases } = config.targets[name]!;
  const list = databases === undefined ? undefined : () => databasesOf(config, name, wanted.loadSeconds);
  const isSeveral = list !== undefined && wanted.database === undefined;
  const settings = { config, target: name, wanted, isSeveral };
  const planChecks = features.flatMap(({ planCheck }) => planCheck?.(settings) ?? []);
  const open = async (database?: CheckedDatabase): Promise<MigratorOptions> => ({
    target: await openTarget(config, name, database),
    migrations,
    ledger: config.ledger,
    folder: config.folder,
    python: wanted.python ?? pythonOf(config),
    computing: computingIn(features),
    guards: config.targets[name]!.guards ?? {},
    planChecks,
    lease: {
      duration: milliseconds(wanted.leaseSeconds ?? config.leaseSeconds),
      patience: milliseconds(wanted.waitSeconds ?? config.waitSeconds),
    },
    listeners: features.flatMap(({ listen }) =>
      listen === undefined
        ? []
        : async (operation) => await listen({ operation, target: name, database: database?.name }),
    ),
    hooks: config.hooks && { hooks: config.hooks, target: name, database: database?.name },
    by: wanted.by,
    signal: wanted.signal,
    emit: wanted.emit,
  });
  const chosen = await databaseChosen(wanted.database, name, list);
  const options = chosen === undefined ? await open() : withName(await open(chosen), `${name}/${chosen.name}`);
  return {
    config,
    folder,
    target: name,
    options,
    databases: isSeveral ? { list, open } : undefined,
    close: () => options.target.close(),
  };
}

/** The Python that the user names, or that of a virtual environment in the folder of the configuration. */
function pythonOf({ folder, python }: LoadedConfig): string | undefined {
  const named = process.env["MIGRATE_PYTHON"];
  if (named !== undefined && named !== "") return named;
  if (python !== undefined) return /[/\\]/.test(python) ? resolve(folder, python) : python;
  return [".venv/bin/python", ".venv/Scripts/python.exe"]
    .map((path) => resolve(folder, path))
    .find((path) => existsSync(path));
}

/** Throws ERR_USAGE, ERR_DATABASE_UNKNOWN. `list`: undefined if the target is one database. */
async function databaseChosen(
  chosen: string | undefined,
  target: string,
  list: SessionDatabases["list"] | undefined,
): Promise<CheckedDatabase | undefined> {
  if (chosen === undefined) return undefined;
  if (list === undefined)
    throw new MigrateError("ERR_USAGE", { problem: `target ${target} is one database, so --database can't be used` });
  return databaseNamed(await list(), chosen, target);
}

/** A message names the database; where all are worked on, the report does. */
function withName({ target, ...options }: MigratorOptions, name: string): MigratorOptions {
  return { ...options, target: { ...target, name } };
}

function milliseconds(seconds: number): number {
  return Math.round(seconds * 1000);
}

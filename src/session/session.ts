/** Opens a configuration together with its target, for the command line and for programs. */
import { resolve } from "node:path";
import { exactObject, must, optional, seconds, text, type Check, type Shape } from "../checks/check.ts";
import { MigrateError } from "../errors/migrate-error.ts";
import { migrationsIn, type MigrationSource } from "../migrations/source.ts";
import { loadConfig, openTarget, problemInSettings, type LoadedConfig } from "./load-config.ts";
import type { Emit } from "../run/events.ts";
import type { MigratorOptions } from "../run/run-context.ts";

export interface SessionOptions {
  /** The folder in which to look for the configuration; the current folder by default. */
  readonly folder?: string | undefined;
  /** The path of a configuration file. */
  readonly config?: string | undefined;
  /** The path of a file of `migrate build`, from which the migrations are read instead of from their folder. */
  readonly bundle?: string | undefined;
  /** The name of a target in the configuration. */
  readonly target?: string | undefined;
  /** Seconds to wait for another run. */
  readonly waitSeconds?: number | undefined;
  /** Seconds without a new record after which another run may take over the lease. */
  readonly leaseSeconds?: number | undefined;
  /** The most seconds that evaluating the configuration, or one migration, may take; 60 by default. */
  readonly loadSeconds?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly emit?: Emit | undefined;
}

const sessionShape: Shape<SessionOptions> = {
  folder: text("must be a folder's path"),
  config: text("must be a file's path"),
  bundle: text("must be a file's path"),
  target: text("must be the name of a target"),
  waitSeconds: seconds(0),
  leaseSeconds: seconds(1),
  loadSeconds: seconds(0.1),
  signal: must((value) => value instanceof AbortSignal, "must be an AbortSignal"),
  emit: must((value) => typeof value === "function", "must be a function"),
};

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
  readonly options: MigratorOptions;
  close(): Promise<void>;
}

/** Opens no target, so it needs no credentials. */
export async function openProject(
  wanted: Pick<SessionOptions, "folder" | "config" | "bundle" | "loadSeconds">,
): Promise<Project> {
  const here = wanted.folder ?? process.cwd();
  const config = await loadConfig(here, wanted.config, wanted.loadSeconds);
  const folder = resolve(config.folder, config.migrations);
  if (wanted.bundle === undefined) return { config, folder, migrations: migrationsIn(folder, wanted.loadSeconds) };
  const { migrationsInBundle } = await import("../migrations/bundle/bundle-source.ts");
  return { config, folder, migrations: migrationsInBundle(resolve(here, wanted.bundle)) };
}

export async function openSession(wanted: SessionOptions): Promise<Session> {
  checkOptions(wanted, sessionShape);
  const { config, folder, migrations } = await openProject(wanted);
  const target = await openTarget(config, wanted.target);
  return {
    config,
    folder,
    options: {
      target,
      migrations,
      ledger: config.ledger,
      guards: config.targets[target.name]?.guards ?? {},
      lease: {
        duration: milliseconds(wanted.leaseSeconds ?? config.leaseSeconds),
        patience: milliseconds(wanted.waitSeconds ?? config.waitSeconds),
      },
      signal: wanted.signal,
      emit: wanted.emit,
    },
    close: () => target.close(),
  };
}

function milliseconds(seconds: number): number {
  return Math.round(seconds * 1000);
}

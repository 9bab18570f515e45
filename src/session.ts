/** A configuration and its target, opened together: what every run needs, from the command line or from code. */
import { resolve } from "node:path";
import { z } from "zod";
import { MigrateError } from "./errors.ts";
import { migrationsIn } from "./migrations/source.ts";
import { loadConfig, openTarget, seconds, type LoadedConfig } from "./config.ts";
import type { Emit } from "./run/events.ts";
import type { Choice } from "./plan/history.ts";
import type { Plan } from "./plan/plan.ts";
import { plan, status, up, type MigratorOptions, type StatusResult, type UpResult } from "./run/migrator.ts";

export interface SessionOptions {
  /** Where to look for the configuration; the current folder by default. */
  readonly folder?: string | undefined;
  /** A configuration file. */
  readonly config?: string | undefined;
  /** A target of the configuration. */
  readonly target?: string | undefined;
  /** Seconds to wait for another runner. */
  readonly waitSeconds?: number | undefined;
  /** Seconds for which the ledger may stand still before another runner takes over. */
  readonly leaseSeconds?: number | undefined;
  /** Seconds in which the configuration, and each migration, has to be evaluated; 60 by default. */
  readonly loadSeconds?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly emit?: Emit | undefined;
}

const limits = z.looseObject({
  waitSeconds: seconds(0).optional(),
  leaseSeconds: seconds(1).optional(),
  loadSeconds: seconds(0.1).optional(),
});

export interface Session {
  readonly config: LoadedConfig;
  readonly options: MigratorOptions;
  close(): Promise<void>;
}

export async function openSession(wanted: SessionOptions): Promise<Session> {
  const [issue] = limits.safeParse(wanted).error?.issues ?? [];
  if (issue !== undefined) throw new MigrateError("ERR_USAGE", { problem: `${issue.path.join(".")} ${issue.message}` });
  const config = await loadConfig(wanted.folder ?? process.cwd(), wanted.config, wanted.loadSeconds);
  const target = await openTarget(config, wanted.target);
  return {
    config,
    options: {
      target,
      migrations: migrationsIn(resolve(config.folder, config.migrations), wanted.loadSeconds),
      ledger: config.ledger,
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

/** What `migrate` does, for programs. */
export interface Migrator {
  up(choice?: Choice): Promise<UpResult>;
  plan(choice?: Choice): Promise<Plan>;
  status(): Promise<StatusResult>;
  close(): Promise<void>;
}

/**
 * Opens the configured target.
 *
 * @example
 * const migrator = await openMigrator({ target: "local" });
 * await migrator.up();
 * await migrator.close();
 */
export async function openMigrator(wanted: SessionOptions = {}): Promise<Migrator> {
  const { options, close } = await openSession(wanted);
  return {
    up: (choice) => up(options, choice),
    plan: (choice) => plan(options, choice),
    status: () => status(options),
    close,
  };
}

import { filledText, listOf, must, seconds, text, type Shape } from "../checks/check.ts";
import type { Emit } from "../run/events.ts";

export interface SessionOptions {
  /** The folder in which to look for the configuration; the current folder by default. */
  readonly folder?: string | undefined;
  /** The path of a configuration file. */
  readonly config?: string | undefined;
  /** The path of a file of `migrate build`, from which the migrations are read instead of from their folder. */
  readonly bundle?: string | undefined;
  /** The name of a target in the configuration. */
  readonly target?: string | undefined;
  /** One of the databases of a target that has several. */
  readonly database?: string | undefined;
  /** The paths of contracts of releases that run, in addition to those of the target. */
  readonly contracts?: readonly string[] | undefined;
  /** Seconds to wait for another run. */
  readonly waitSeconds?: number | undefined;
  /** Seconds without a new record after which another run may take over the lease. */
  readonly leaseSeconds?: number | undefined;
  /** Who runs it, for the ledger; by default `MIGRATE_ACTOR`, who started the pipeline, or the operating system's user. */
  readonly by?: string | undefined;
  /** The Python that loads computed columns; by default `MIGRATE_PYTHON`, that of the configuration, or that of `.venv`. */
  readonly python?: string | undefined;
  /** The most seconds that evaluating the configuration, or one migration, may take; 60 by default. */
  readonly loadSeconds?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly emit?: Emit | undefined;
}

export const sessionShape: Shape<SessionOptions> = {
  folder: text("must be a folder's path"),
  config: text("must be a file's path"),
  by: text("must be a name"),
  python: text("must be a program"),
  bundle: text("must be a file's path"),
  target: text("must be the name of a target"),
  database: text("must be the name of a database"),
  contracts: listOf(filledText("must be a file's path"), "must be an array of paths"),
  waitSeconds: seconds(0),
  leaseSeconds: seconds(1),
  loadSeconds: seconds(0.1),
  signal: must((value) => value instanceof AbortSignal, "must be an AbortSignal"),
  emit: must((value) => typeof value === "function", "must be a function"),
};

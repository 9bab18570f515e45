/** The shape of the configuration. The user's file imports this, so it loads nothing. */
import type { RuleSettings } from "../commands/lint/findings.ts";
import type { Guards } from "../plan/assess/guards.ts";
import type { TargetConfig } from "../targets/index.ts";
import type { Databases } from "./databases.ts";

export interface Config {
  /** The migrations folder, relative to the configuration file; "migrations" by default. */
  readonly migrations?: string;
  /** The file that declares the wanted tables, for `generate`; by default "schema.ts", or "schema" with another ending. */
  readonly schema?: string;
  /** The file, such as "src/db.ts", for row types and Arrow schemas from `migrate types`; none by default. */
  readonly types?: string;
  /** The name of the ledger's table; "_migrations" by default. */
  readonly ledger?: string;
  /** The target to use without `--target`. */
  readonly target?: string;
  readonly targets?: Readonly<Record<string, TargetConfig & TargetSettings>>;
  /** Seconds without a new record after which another run may take over the lease; 30 by default. */
  readonly leaseSeconds?: number;
  /** Seconds to wait for another run; 600 by default. */
  readonly waitSeconds?: number;
  /**
   * Formats migrations and the schema before they are written: a command such as "prettier --write", which gets a file's
   * path as its last argument, or a function that returns the formatted text.
   */
  readonly format?: string | ((text: string, file: string) => string | Promise<string>);
  /** The severity of each rule of `lint`. */
  readonly lint?: { readonly rules?: RuleSettings };
}

/** What any target can have. */
interface TargetSettings {
  readonly guards?: Guards;
  /** Whether `migrate push` may change its tables without a migration; false by default. */
  readonly push?: boolean;
  /** The databases of a target that has several; `up` and `status` run on all of them. */
  readonly databases?: Databases;
}

/**
 * Gives `migrate.config.ts` its types.
 *
 * @example
 * export default defineConfig({ targets: { local: { kind: "lance", uri: ".lancedb" } } });
 */
export function defineConfig(config: Config): Config {
  return config;
}

export const defaultSeconds = { lease: 30, wait: 600 };

/** What features add to a session. */
import type { MigrationSource } from "../migrations/source.ts";
import type { Listen } from "../run/observed.ts";
import type { PlanCheck } from "../run/plan-check.ts";
import type { TargetLoaders } from "../targets/index.ts";
import type { AddedSettings, AddedToConfig, LoadedConfig } from "./load-config.ts";
import type { SessionOptions } from "./session-options.ts";
import type { MigratorOptions } from "../run/run-context.ts";

export interface SessionFeature {
  /** Keys of the configuration, with their checks. */
  readonly settings?: AddedSettings;
  /** Kinds of targets. */
  readonly targets?: TargetLoaders;
  /** The migrations of a file that a session is given in place of the folder. */
  readonly migrationsInBundle?: (path: string) => Promise<MigrationSource>;
  /** Listens to the runs of the session. */
  readonly listen?: Listen;
  /** Computes columns and rows by code of the project. */
  readonly computing?: MigratorOptions["computing"];
  /** The check of the plans of a session; undefined if nothing is configured for it. */
  readonly planCheck?: (settings: SessionSettings) => PlanCheck | undefined;
}

/** What a session was opened with. */
export interface SessionSettings {
  readonly config: LoadedConfig;
  /** The name of the target. */
  readonly target: string;
  readonly wanted: SessionOptions;
  /** Whether the target has several databases of which none was chosen. */
  readonly isSeveral: boolean;
}

/** What all of them add to the configuration. */
export function addedToConfig(all: readonly SessionFeature[]): AddedToConfig {
  return {
    settings: Object.assign({}, ...all.map(({ settings }) => settings)) as AddedSettings,
    kinds: Object.assign({}, ...all.map(({ targets }) => targets)) as TargetLoaders,
  };
}

/** What the feature brings that computes columns. */
export function computingIn(all: readonly SessionFeature[]): MigratorOptions["computing"] {
  return all.find(({ computing }) => computing !== undefined)?.computing;
}

/** What features add to a session. */
import type { Listen } from "../run/observed.ts";
import type { AddedSettings } from "./load-config.ts";

export interface SessionFeature {
  /** Keys of the configuration, with their checks. */
  readonly settings?: AddedSettings;
  /** Listens to the runs of the session. */
  readonly listen?: Listen;
}

/** The keys of the configuration that all of them add. */
export function settingsOf(all: readonly SessionFeature[]): AddedSettings {
  return Object.assign({}, ...all.map(({ settings }) => settings)) as AddedSettings;
}

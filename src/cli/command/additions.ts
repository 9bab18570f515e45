/** What features add to the commands of others, which get it in their context. */
import type { AddedSettings } from "../../session/load-config.ts";

export interface Additions {
  /** Keys of the configuration, with their checks. */
  readonly settings?: AddedSettings;
}

/** The keys of the configuration that all of them add. */
export function settingsOf(all: readonly Additions[]): AddedSettings {
  return Object.assign({}, ...all.map(({ settings }) => settings)) as AddedSettings;
}

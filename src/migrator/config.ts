/** The configuration with what features add to it. The user's file imports this, so it loads nothing. */
import type { FeatureSettings, FeatureTarget } from "../features/index.ts";
import type { CoreConfig } from "../session/config.ts";
import type { TargetConfig } from "../targets/index.ts";

/** Published in docs/configuration.md, as are the settings of targets. */
export interface Config extends CoreConfig<TargetConfig | FeatureTarget>, FeatureSettings {}

/**
 * Gives `migrate.config.ts` its types.
 *
 * @example
 * export default defineConfig({ targets: { local: { kind: "lance", uri: ".lancedb" } } });
 */
export function defineConfig(config: Config): Config {
  return config;
}

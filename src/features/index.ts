/** Whatever is not needed to apply migrations and to roll them back. Nothing below knows them. */
import type { FormatSettings } from "./author/scaffold/format-draft.ts";
import type { LintSettings } from "./lint/settings.ts";
import type { RepairMembers } from "./repair/members.ts";
import type { RehearseMembers } from "./rehearse/members.ts";
import type { RestConfig } from "./rest/options/rest-config.ts";
import type { TypesSettings } from "./types/settings.ts";
export { author } from "./author/feature.ts";
export { bundle } from "./bundle/feature.ts";
export { completion } from "./completion/feature.ts";
export { contracts } from "./contracts/feature.ts";
export { embed } from "./embed/feature.ts";
export { fleet } from "./fleet/feature.ts";
export { lint } from "./lint/feature.ts";
export { markdown } from "./markdown/feature.ts";
export { protect } from "./protect/feature.ts";
export { rehearse } from "./rehearse/feature.ts";
export { repair } from "./repair/feature.ts";
export { report } from "./report/feature.ts";
export { rest } from "./rest/feature.ts";
export { serve } from "./serve/feature.ts";
export { telemetry } from "./telemetry/feature.ts";
export { types } from "./types/feature.ts";

/** What they add to the migrator for programs. */
export type FeatureMembers = RehearseMembers & RepairMembers;

/** The targets that they add to the configuration. */
export type FeatureTarget = RestConfig;

/** What else they add to it. */
export type FeatureSettings = FormatSettings & LintSettings & TypesSettings;

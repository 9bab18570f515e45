/** Targets of all kinds, also those of features. */
import { rest } from "../../src/features/rest/feature.ts";
import type { FeatureTarget } from "../../src/features/index.ts";
import { loadTarget, type TargetConfig, type TargetModule } from "../../src/targets/index.ts";

export type AnyTargetConfig = TargetConfig | FeatureTarget;

export async function loadAnyTarget(kind: string): Promise<TargetModule> {
  return (await loadTarget(kind, rest.targets))!;
}

/** What this target assumes of the engine. */
import { enginePackage } from "../../engine/package/engine-package.ts";
import { engineVersion, isTested } from "../../engine/package/find-engine.ts";
import { knownLimits, unmet } from "../../engine/probes/engine-limits.ts";
import type { Capabilities } from "../contract/target.ts";
import type { TargetCheck } from "../contract/target-check.ts";

const engine = () => `${enginePackage} ${engineVersion()}`;

/** Why the engine does not support an action, where an assumption failed. */
export const refuses: Capabilities["refuses"] = (action) => {
  const limit = knownLimits().find((one) => one.refuses?.(action) === true);
  return limit && `with ${engine()}, ${unmet(limit)}`;
};

/** Runs the probes, unless the engine was tested. */
export async function assumptions(): Promise<readonly TargetCheck[]> {
  const what = "does what is assumed of the engine";
  if (isTested()) return [{ what, found: true, needed: true, detail: `${engine()} was tested with this release` }];
  const { runProbes } = await import("../../engine/probes/run-probes.ts");
  const results = await runProbes();
  return results.map(({ probe, holds, problem }) => ({
    what: `${probe.name}, with ${engine()}`,
    found: holds,
    needed: probe.refuses === undefined,
    detail: holds ? probe.assumes : unmet(probe, problem),
  }));
}

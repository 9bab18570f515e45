/** Runs the probes on the engine that is installed. */
import { mkdirSync, mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isMigrateError } from "../../errors/migrate-error.ts";
import { loadEngine } from "../engine.ts";
import { engineProblem } from "../problem/engine-problem.ts";
import { openScene, type Probe } from "./probe.ts";
import { probes } from "./probes.ts";

export interface ProbeResult {
  readonly probe: Probe;
  readonly holds: boolean;
  /** What was found instead, if the engine reported it. */
  readonly problem?: string | undefined;
}

export async function runProbes(): Promise<readonly ProbeResult[]> {
  const folder = mkdtempSync(join(tmpdir(), "lance-migrate-probes-"));
  const results: ProbeResult[] = [];
  try {
    for (const probe of probes)
      results.push({ probe, ...(await tryProbe(probe, join(folder, String(results.length)))) });
  } finally {
    // Windows removes no files that the engine still holds.
    await rm(folder, { recursive: true, force: true, maxRetries: 5 }).catch(() => {});
  }
  return results;
}

async function tryProbe(probe: Probe, folder: string): Promise<Omit<ProbeResult, "probe">> {
  mkdirSync(folder);
  try {
    const scene = await openScene(folder);
    try {
      return { holds: await probe.holds(scene) };
    } finally {
      scene.close();
    }
  } catch (error) {
    // Throws if the package as a whole can't be loaded. If it can, only the part that was looked for is missing.
    if (isMigrateError(error)) loadEngine();
    return { holds: false, problem: engineProblem(error) };
  }
}

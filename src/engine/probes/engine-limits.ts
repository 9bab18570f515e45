/** Which of the probes the installed engine fails. An engine that was tested fails none: then nothing here is loaded but this file. */
import { isTested, unfitEngine } from "../package/find-engine.ts";
import type { Probe } from "./probe.ts";

const none: readonly Probe[] = [];
let found: Promise<readonly Probe[]> | undefined;
let known = none;

/**
 * The probes that fail, without which some actions are refused. On a version that was not tested, they run once for each
 * machine. Throws ERR_ENGINE_MISSING, and ERR_ENGINE_VERSION if one fails without which the engine can't be used.
 */
export async function engineLimits(): Promise<readonly Probe[]> {
  if (isTested()) return none;
  found ??= probed();
  known = await found.catch((error: unknown) => {
    found = undefined; // a full disk may be the cause
    throw error;
  });
  return known;
}

/** The same as far as they are known: what has read a table or a ledger knows them. */
export function knownLimits(): readonly Probe[] {
  return known;
}

async function probed(): Promise<readonly Probe[]> {
  const { knownFailures, keepFailures } = await import("./kept-results.ts");
  const { probes } = await import("./probes.ts");
  const known = knownFailures();
  if (known !== undefined) return probes.filter(({ name }) => known.includes(name));
  const { runProbes } = await import("./run-probes.ts");
  const failed = (await runProbes()).filter(({ holds }) => !holds);
  const fatal = failed.find(({ probe }) => probe.refuses === undefined);
  // Not kept: a full disk may be the cause, too.
  if (fatal !== undefined) throw unfitEngine(unmet(fatal.probe, fatal.problem));
  keepFailures(failed.map(({ probe }) => probe.name));
  return failed.map(({ probe }) => probe);
}

/** An assumption that does not hold, in words. `problem`: what was found instead. */
export function unmet({ assumes, otherwise }: Pick<Probe, "assumes" | "otherwise">, problem?: string): string {
  return `"${assumes}" does not hold${problem === undefined ? "" : ` (${problem})`}, so ${otherwise}`;
}

/** A run that kills itself at one of its calls; started as a process by the crash matrix with its order as an argument. */
import { readFileSync, writeSync } from "node:fs";
import { flushCompileCache } from "node:module";
import { embed } from "../../src/features/embed/feature.ts";
import { isMigrateError } from "../../src/errors/migrate-error.ts";
import { migrationsIn } from "../../src/migrations/source.ts";
import { down } from "../../src/commands/down.ts";
import { up } from "../../src/commands/up.ts";
import { parseSavedPlan } from "../../src/plan/document/saved-plan.ts";
import type { MigratorOptions } from "../../src/run/run-context.ts";
import { loadAnyTarget, type AnyTargetConfig } from "../support/any-target.ts";
import { atBoundaries, type Place } from "./boundaries.ts";
import { crowded } from "./crowded.ts";

export interface Order {
  readonly migrations: string;
  readonly target: AnyTargetConfig;
  /** The table to which somebody appends before each call that this could get in the way of, and its folder. */
  readonly crowd?: { readonly folder: string; readonly table: string } | undefined;
  /** It rolls back all above this version instead. */
  readonly downTo?: number | undefined;
  /** It keeps rows that were added since. */
  readonly reinsert?: boolean | undefined;
  /** The file of the saved plan that it carries out. */
  readonly plan?: string | undefined;
  /** Where it ends; nowhere when somebody else ends it. */
  readonly death?: { readonly call: number; readonly place: Place } | undefined;
}

const {
  migrations,
  target: given,
  crowd,
  downTo,
  reinsert,
  plan: planFile,
  death,
} = JSON.parse(process.argv[2] ?? "") as Order;
const module = await loadAnyTarget(given.kind);
const target = await module.open(given, { name: "matrix", folder: process.cwd() });
// Who is killed writes no cache, and most of what these processes cost is their start.
flushCompileCache();
const mortal = atBoundaries(crowd === undefined ? target : crowded(target, crowd), (call, place, name) => {
  if (call !== death?.call || place !== death.place) return;
  writeSync(1, name);
  process.kill(process.pid, "SIGKILL");
});
try {
  const options: MigratorOptions = {
    target: mortal,
    migrations: migrationsIn(migrations),
    ledger: "_migrations",
    computing: embed.computing,
    lease: { duration: 30_000, patience: 60_000 },
  };
  const plan = planFile === undefined ? undefined : parseSavedPlan(JSON.parse(readFileSync(planFile, "utf8")));
  const isBack = downTo !== undefined || plan?.plan.direction === "down";
  await (isBack ? down(options, { plan, to: downTo, reinsert }) : up(options, { plan }));
} catch (error) {
  console.error(isMigrateError(error) ? `${error.code}: ${error.message}` : error);
  process.exitCode = 1;
}
await target.close();

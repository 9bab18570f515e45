import { yesOrNo } from "../../checks/check.ts";
import type { MigratorMember } from "../../cli/command/feature.ts";
import { prune, type KeptPoint, type PruneChoice } from "../../commands/prune.ts";
import { migration, to } from "../../session/choice-shapes.ts";
import { baseline, type Baseline, type BaselineChoice } from "./baseline.ts";
import { resolve, type Resolution, type ResolveChoice } from "./resolve/resolve.ts";

export interface RepairMembers {
  /** Lists the kept versions of tables; with `yes` releases those that no run needs. */
  prune(choice?: PruneChoice): Promise<readonly KeptPoint[]>;
  /** Marks migrations as applied that never ran here, if the tables are as these migrations leave them. */
  baseline(choice?: BaselineChoice): Promise<Baseline>;
  /** Marks one migration as reverted or as adopted; without `yes` only reports what that means. */
  resolve(choice: ResolveChoice): Promise<Resolution>;
}

const pruning: MigratorMember<PruneChoice, readonly KeptPoint[]> = { shape: { to, yes: yesOrNo }, verb: prune };
const marking: MigratorMember<BaselineChoice, Baseline> = { shape: { to, dryRun: yesOrNo }, verb: baseline };
const resolving: MigratorMember<ResolveChoice, Resolution> = {
  shape: { reverted: migration, adopted: migration, yes: yesOrNo },
  verb: resolve,
};

export const members = { prune: pruning, baseline: marking, resolve: resolving } satisfies Record<
  keyof RepairMembers,
  unknown
>;

import type { MigratorMember } from "../../cli/command/feature.ts";
import { count, upShape } from "../../session/choice-shapes.ts";
import { openScratch } from "../../targets/index.ts";
import { rehearse, type Rehearsal, type RehearsalChoice } from "./rehearse.ts";

export interface RehearseMembers {
  /** Tries `up` and its rollback on a copy. Failures and broken promises are not thrown: they are in the result. */
  rehearse(choice?: RehearsalChoice): Promise<Rehearsal>;
}

export const members: { readonly [Name in keyof RehearseMembers]: MigratorMember<RehearsalChoice, Rehearsal> } = {
  rehearse: {
    shape: { ...upShape, rows: count(0), sample: count(1) },
    verb: async (options, choice) => await rehearse(options, choice, openScratch),
  },
};

/** All that runs need of this feature. */
import type { ActionKind } from "../../actions/model/action.ts";
import type { ColumnComputing } from "../../run/run-context.ts";
import { dropLateStaging } from "../../run/fill/drop-late-staging.ts";
import * as executors from "./executors.ts";

export const computing: ColumnComputing = {
  // Does not compile if an executor has another name than a kind.
  executors: executors satisfies {
    readonly [Name in keyof typeof executors]: Name extends ActionKind ? unknown : never;
  },
  dropLate: dropLateStaging,
};

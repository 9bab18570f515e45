/** All that runs need of this feature. Each part is loaded by those who need it. */
import type { ActionKind } from "../../actions/model/action.ts";
import type { ColumnComputing } from "../../run/run-context.ts";

export const computing: ColumnComputing = {
  async executors() {
    const all = await import("./executors.ts");
    // Does not compile if an executor has another name than a kind.
    return all satisfies { readonly [Name in keyof typeof all]: Name extends ActionKind ? unknown : never };
  },
  dropLate: async (...given) => await (await import("./fill/drop-late-staging.ts")).dropLateStaging(...given),
  countRows: async (...given) => await (await import("./preflight/count-rows.ts")).countRows(...given),
  withMissingCode: async (...given) => await (await import("./preflight/missing-code.ts")).withMissingCode(...given),
  checkKeys: async (...given) => await (await import("./preflight/check-keys.ts")).checkKeys(...given),
  preparingColumns: async (...given) =>
    await (await import("./prepare/preparing-columns.ts")).preparingColumns(...given),
  listStale: async (...given) => await (await import("./watch/find-stale.ts")).listStale(...given),
  waitingRows: async (...given) => await (await import("./watch/waiting-rows.ts")).waitingRows(...given),
  sampleSteps: async (...given) => await (await import("./preflight/sample-steps.ts")).sampleSteps(...given),
  async findLoader({ python, target }) {
    const { findLoader, loaderText } = await import("./fill/load-files.ts");
    const loader = await findLoader(python, target);
    return loader && { usable: loader.usable, text: loaderText(loader) };
  },
  verifyRecall: async (...given) => await (await import("./recall/verify-recall.ts")).verifyRecall(...given),
  dropPrepared: async (...given) => await (await import("./prepare/discard-prepared.ts")).dropPrepared(...given),
};

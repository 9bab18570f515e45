import type { Feature } from "../../cli/command/feature.ts";

/** Materialized views of the engine, which steps on their tables must not break. */
export const views: Feature = {
  planCheck: () => ({
    check: async (...given) => await (await import("./broken-views.ts")).withBrokenViews(...given),
    checkNow: async () => {},
  }),
};

import type { Feature } from "../../cli/command/feature.ts";

/** What the engine keeps beside a table, and steps on the table would break: materialized views, clones, logs of writes. */
export const protect: Feature = {
  planCheck: () => ({
    holdsForPrepare: true,
    check: async (...given) => await (await import("./protect-tables.ts")).withProtectedTables(...given),
    checkNow: async () => {},
  }),
};

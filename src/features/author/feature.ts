import type { Feature } from "../../cli/command/feature.ts";

/** Migrations are written, and the files beside them. */
export const author: Feature = {
  commands: {},
  extensions: { verify: async () => (await import("./write-drift.ts")).writeDrift },
  pending: async (...given) => await (await import("./note-stale-lock.ts")).noteStaleLock(...given),
};

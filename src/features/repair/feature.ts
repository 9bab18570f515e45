import type { Feature } from "../../cli/command/feature.ts";

/** Databases that exist already, and states that no run can settle. */
export const repair: Feature = {
  commands: {
    "Apply and roll back": { prune: async () => (await import("./prune-command.ts")).pruneCommand },
    Inspect: { doctor: async () => (await import("./doctor-command.ts")).doctorCommand },
    "Existing databases and repairs": {
      baseline: async () => (await import("./baseline-command.ts")).baselineCommand,
      resolve: async () => (await import("./resolve-command.ts")).resolveCommand,
      repair: async () => (await import("./repair-command.ts")).repairCommand,
    },
  },
  members: async () => (await import("./members.ts")).members,
};

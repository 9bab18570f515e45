import { must, optional, type Shape } from "../../checks/check.ts";
import type { Feature } from "../../cli/command/feature.ts";
import type { FormatSettings } from "./scaffold/format-draft.ts";

const settings: Shape<FormatSettings> = {
  format: optional(
    must(
      (format) => typeof format === "function" || (typeof format === "string" && format.trim() !== ""),
      "must be a command or a function",
    ),
  ),
};

/** Migrations are written, and the files beside them. */
export const author: Feature = {
  commands: {
    "Write migrations": {
      init: async () => (await import("./init-command.ts")).initCommand,
      new: async () => (await import("./new-command.ts")).newCommand,
      generate: async () => (await import("./generate-command.ts")).generateCommand,
      dev: async () => (await import("./dev-command.ts")).devCommand,
      push: async () => (await import("./push-command.ts")).pushCommand,
      reset: async () => (await import("./reset-command.ts")).resetCommand,
    },
    Inspect: {
      inspect: async () => (await import("./inspect-command.ts")).inspectCommand,
      diff: async () => (await import("./diff-command.ts")).diffCommand,
    },
    "Work on branches": {
      rebase: async () => (await import("./rebase-command.ts")).rebaseCommand,
      squash: async () => (await import("./squash-command.ts")).squashCommand,
    },
    "Existing databases and repairs": { pull: async () => (await import("./pull-command.ts")).pullCommand },
  },
  settings,
  extensions: { verify: async () => (await import("./write-drift.ts")).writeDrift },
  pending: async (...given) => await (await import("./note-stale-lock.ts")).noteStaleLock(...given),
};

import type { Feature } from "../../cli/command/feature.ts";

/** `up` and `down` on a copy of the tables. */
export const rehearse: Feature = {
  commands: { "Apply and roll back": { rehearse: async () => (await import("./command.ts")).rehearseCommand } },
  members: async () => (await import("./members.ts")).members,
};

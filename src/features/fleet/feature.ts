import type { Feature } from "../../cli/command/feature.ts";
import { checkOneDatabase, databasesFlags } from "./databases-flags.ts";

/** `up`, `status` and `report` on all databases of a target that has several. */
export const fleet: Feature = {
  flags: { up: databasesFlags, status: databasesFlags },
  async databases(session, input) {
    const { databases } = session;
    if (databases === undefined) checkOneDatabase(input.flags);
    else return (await import("./all-databases.ts")).allDatabases({ ...session, databases }, input);
    return undefined;
  },
};

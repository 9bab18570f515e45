import { type Step } from "lance-migrate";

/** What this migration does. */
export const up: readonly Step[] = [
  // Such as: renameColumn("documents", "title", "headline"), imported from "lance-migrate".
];

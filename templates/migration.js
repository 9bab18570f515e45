/**
 * What this migration does.
 *
 * @type {readonly import("lance-migrate").Step[]}
 */
export const up = [
  // Such as: renameColumn("documents", "title", "headline"), imported from "lance-migrate".
];

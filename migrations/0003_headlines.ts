import { renameColumn } from "lance-migrate";

/** A title is a headline, and what was fetched has a time: a nested column is renamed by its path. */
export const up = [
  renameColumn("documents", "title", "headline"),
  renameColumn("documents", "source.fetched", "fetched_at"),
];

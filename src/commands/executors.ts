/** The executors of a run, by the kind of action. */
import { prepareColumn, fillColumn, switchColumn } from "../run/fill/compute-column.ts";
import type { FillProject } from "../run/fill/compute-session.ts";
import { populate } from "../run/populate/populate.ts";
import { createIndex } from "../run/python/train-index.ts";
import { checkRecallOnce } from "../run/recall/check-recall.ts";
import type { Executors } from "../run/executors/executors.ts";

export const executors: Executors<FillProject> = {
  fillColumn,
  prepareColumn,
  catchUpColumn: prepareColumn,
  switchColumn,
  populateTable: populate,
  createIndex,
  checkRecall: checkRecallOnce,
};

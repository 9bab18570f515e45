/** The registry of executors: to add one, export it here under the kind of its action. */
export {
  fillColumn,
  prepareColumn,
  prepareColumn as catchUpColumn,
  switchColumn,
} from "../../run/fill/compute-column.ts";
export { populate as populateTable } from "../../run/populate/populate.ts";
export { createIndex } from "../../run/python/train-index.ts";
export { checkRecallOnce as checkRecall } from "../../run/recall/check-recall.ts";

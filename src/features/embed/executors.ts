/** The registry of executors: to add one, export it here under the kind of its action. */
export { fillColumn, prepareColumn, prepareColumn as catchUpColumn, switchColumn } from "./fill/compute-column.ts";
export { populate as populateTable } from "./populate/populate.ts";
export { createIndex } from "./python/train-index.ts";
export { checkRecallOnce as checkRecall } from "./recall/check-recall.ts";

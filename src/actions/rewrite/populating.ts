/** Rows that code of the project computes from rows of another table. */
import type { PopulateTableAction } from "../model/action.ts";
import type { Computation } from "../model/computation.ts";

/** How the rows are computed: the code gets the key too. */
export function populating(action: PopulateTableAction): Computation {
  const { columns, key, with: code, version, where, batch, concurrency } = action;
  const { callsPerMinute, callSeconds, failedRows, pricePer1000Rows } = action;
  const limits = { batch, concurrency, callsPerMinute, callSeconds, failedRows, pricePer1000Rows };
  return { from: [key, ...columns], key, with: code, version, where, ...limits };
}

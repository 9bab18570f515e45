/** The fields of steps whose values code of the project computes. */
import { computationSql, type Computation } from "../../actions/model/computation.ts";
import { formatPath, parsePath } from "../../schema/path.ts";
import type { FieldsOf, Schemas } from "./fields.ts";
import type { Moving } from "./name-map.ts";

export const computation = {
  from: (schemas: Schemas) => schemas.computation.from,
  key: (schemas: Schemas) => schemas.computation.key,
  with: (schemas: Schemas) => schemas.computation.with,
  version: (schemas: Schemas) => schemas.computation.version,
  where: (schemas: Schemas) => schemas.computation.where,
  batch: (schemas: Schemas) => schemas.computation.batch,
  concurrency: (schemas: Schemas) => schemas.computation.concurrency,
  callsPerMinute: (schemas: Schemas) => schemas.computation.callsPerMinute,
  callSeconds: (schemas: Schemas) => schemas.computation.callSeconds,
  failedRows: (schemas: Schemas) => schemas.computation.failedRows,
  equalRows: (schemas: Schemas) => schemas.computation.equalRows,
  pricePer1000Rows: (schemas: Schemas) => schemas.computation.pricePer1000Rows,
};

export const computationOptions = Object.keys(computation) as (keyof typeof computation)[];

/** The fields of a step that describe how its values are computed. */
export function computationOf(step: FieldsOf<typeof computation>): Computation {
  return Object.fromEntries(computationOptions.map((name) => [name, step[name]])) as unknown as Computation;
}

/** These fields if tables and columns have the names in `to`. */
export function movedComputation(
  { table, from, key, where, with: code }: FieldsOf<typeof computation> & { readonly table: string },
  to: Moving,
) {
  const moved = (name: string) => parsePath(to.path(table, formatPath([name])))[0]!;
  const sql = computationSql({ with: code });
  return {
    from: from.map(moved),
    key: moved(key),
    ...(where !== undefined && { where: to.sql(table, where) }),
    ...(sql !== undefined && { with: { sql: to.sql(table, sql) } }),
  };
}

/** Parts of a table's rows that several processes compute at the same time. */
import { sqlPath } from "../../schema/sql.ts";

/** One of `of` parts, from 1. A row belongs to a part by its key. */
export interface Shard {
  readonly index: number;
  readonly of: number;
}

const digits = 6;

/** An SQL predicate for the rows of a shard. Rows without a key are in one of them too. */
export function inShard({ index, of }: Shard, key: string): string {
  const hash = `md5(coalesce(cast(${sqlPath([key])} as string), ''))`;
  const bound = (number: number) =>
    `'${Math.floor((number * 16 ** digits) / of)
      .toString(16)
      .padStart(digits, "0")}'`;
  const from = `${hash} >= ${bound(index - 1)}`;
  return index === of ? from : `${from} and ${hash} < ${bound(index)}`;
}

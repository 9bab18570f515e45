/** Counts the rows of a table. */
import { parseCount } from "./parse-answers.ts";
import type { Client } from "./client.ts";

/** Counts the rows that match an SQL predicate, or all; in the current table, or in a version. */
export async function countRows(client: Client, table: string, predicate?: string, version?: number): Promise<number> {
  const answer = await client.read("count", table, { predicate, version });
  const number = parseCount(answer);
  if (number === undefined) throw client.strange("count", table, answer, "number of rows");
  return number;
}

/** How many rows a table has. */
import { parseCount } from "./parse-answers.ts";
import type { Client } from "./client.ts";

/** Of those for which an SQL predicate holds, or of all; of the table as it is, or of a version. */
export async function countRows(client: Client, table: string, predicate?: string, version?: number): Promise<number> {
  const answer = await client.read("count", table, { predicate, version });
  const number = parseCount(answer);
  if (number === undefined) throw client.strange("count", table, answer, "number of rows");
  return number;
}

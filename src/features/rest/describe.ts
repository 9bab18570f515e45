/** Describes tables of a service of the namespace dialect. */
import { isMigrateError } from "../../errors/migrate-error.ts";
import type { Column } from "../../schema/data-type.ts";
import { extensionIn } from "../../schema/reserved-metadata.ts";
import type { FoundIndex } from "../../schema/table-index.ts";
import type { TableSnapshot } from "../../targets/contract/target.ts";
import type { Client } from "./client.ts";
import { parseDescription } from "./parse-answers.ts";

export async function describe(
  client: Client,
  table: string,
  withIndexes = false,
  isAgain = false,
): Promise<TableSnapshot | undefined> {
  try {
    const found = await client.ask("describe", table, {}, parseDescription, "description of a table");
    const { withComputed } = await import("../../wire/arrow/computed-column.ts");
    const exact = found.vague ? await columnsOfRows(client, table, found.columns) : found.columns;
    const columns = exact.map(withComputed);
    const metadata = found.metadata && { metadata: found.metadata };
    const indexes = withIndexes ? { indexes: await indexesOf(client, table) } : {};
    return { table: { columns, ...indexes, ...metadata }, version: found.version };
  } catch (error) {
    if (await client.saysMissing(error, table)) return undefined;
    // Another call may have created the table between the two requests.
    const mayBeNew = !isAgain && isMigrateError(error, "ERR_ANSWER") && error.details.status === 404;
    if (mayBeNew) return await describe(client, table, withIndexes, true);
    throw error;
  }
}

/** By name. */
export async function indexesOf(
  client: Client,
  table: string,
  version?: number,
): Promise<Readonly<Record<string, FoundIndex>>> {
  const { parseIndexes } = await import("./parse-indexes.ts");
  const body = version === undefined ? {} : { version };
  return await client.ask("listIndexes", table, body, parseIndexes, "list of indexes");
}

/** The schema of a query's answer, which has the units, zones and dictionaries that a description may leave out. */
async function columnsOfRows(client: Client, table: string, described: readonly Column[]): Promise<readonly Column[]> {
  try {
    const answer = await client.read("query", table, { k: 1, vector: {} });
    const { fromIpc } = await import("../../wire/arrow/arrow-schema.ts");
    const exact = fromIpc(answer.body);
    if (exact.length !== described.length) return described;
    // Rows have the place of a blob, and JSON as text.
    return exact.map((column, at) => (extensionIn(described[at]!.type) === undefined ? column : described[at]!));
  } catch (error) {
    if (isMigrateError(error, "ERR_TARGET_UNREACHABLE")) throw error;
    return described;
  }
}

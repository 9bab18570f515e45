/** The target for a table service over HTTP. */
import type { Column } from "../../schema/data-type.ts";
import type { Row } from "../../wire/rows/ipc-rows.ts";
import type { OpenContext, TableSnapshot, Target } from "../../targets/contract/target.ts";
import { callFor, refusal, supportedBy } from "./actions.ts";
import { describe } from "./describe.ts";
import { parseVersion } from "./parse-answers.ts";
import { streamType } from "../../wire/content-types.ts";
import { jsonBody } from "./http/message.ts";
import { openClient, type Client } from "./client.ts";
import { settingsOf } from "./options/options.ts";
import type { RestConfig } from "./options/rest-config.ts";
import { withHiddenColumns } from "../../targets/contract/hidden-columns.ts";
import { holds } from "../../targets/contract/holds.ts";
import { sampledWidths, type ReadRows } from "../../targets/contract/sampled-widths.ts";
import { verdictOf } from "./service-verdict.ts";
import { explain } from "./http/http-errors.ts";
import { restRecords } from "./ledger-table.ts";
import { restRows } from "./rows.ts";
import { keepsVersions } from "./options/dialects.ts";
import { restVersions, versionedTable } from "./versions.ts";

export { inDatabase, options } from "./options/options.ts";

export async function open(given: RestConfig, context: OpenContext): Promise<Target> {
  const settings = settingsOf(given, context);
  const client = openClient(settings);
  const { endpoints } = settings.dialect;
  const describes = endpoints.describe !== undefined;
  const { types } = settings;
  const actions = supportedBy(endpoints, given.dialect ?? "service");
  return withHiddenColumns({
    name: context.name,
    place: settings.place,
    capabilities: {
      actions,
      refuses: (action, before) => refusal(action, before?.columns ?? [], types),
      describes,
      fences: false,
    },
    isUnproven: !describes,
    listTables: client.list,
    describeTable: (table, withIndexes = false) =>
      describes ? describe(client, table, withIndexes) : notice(client, table),
    async call(action, before) {
      const { operation, request, note } = callFor(action);
      const sent = await request(action, before ?? { columns: [] }, types);
      return client.shown(operation, action.table, sent) + (note?.(action) ?? "");
    },
    async execute(action, seen) {
      const { operation, request, execute } = callFor(action);
      if (execute !== undefined) return { version: await execute(versionedTable(client, action.table), action) };
      const answer = await client.write(
        operation,
        action.table,
        await request(action, seen?.table ?? { columns: [] }, types),
      );
      const answered = parseVersion(answer);
      if (answered === undefined && action.kind === "alterColumns")
        throw client.strange(operation, action.table, answer, "answer to alter_columns");
      return { version: answered?.version };
    },
    versions: keepsVersions(endpoints) ? restVersions(client) : undefined,
    tableSize: endpoints.count === undefined ? undefined : async (table) => ({ rows: await client.count(table) }),
    countRows: endpoints.count === undefined ? undefined : client.count,
    holds: keepsVersions(endpoints) ? (action) => holds(versionedTable(client, action.table), action) : undefined,
    widths:
      endpoints.query === undefined
        ? undefined
        : (table, expressions, rows) => sampledWidths(rowsOf(client, table), expressions, rows),
    rows: actions["fillColumn"] === true ? restRows(client) : undefined,
    verdict: verdictOf,
    explain,
    ledger: describes
      ? { kind: "rows", records: (shape) => restRecords(client, shape) }
      : { kind: "markers", create: (name, columns, row) => createMarker(client, name, columns, row) },
    discard:
      endpoints.drop === undefined
        ? undefined
        : async (table) => void (await client.write("drop", table, { body: jsonBody({}) })),
    close: client.close,
  });
}

function rowsOf(client: Client, table: string): ReadRows {
  return async (columns, k, offset) => {
    const wanted = { k, offset, vector: [], prefilter: true, columns: Object.fromEntries(columns) };
    return [(await client.read("query", table, wanted)).body];
  };
}

async function notice(client: Client, table: string): Promise<TableSnapshot | undefined> {
  return (await client.exists(table)) ? { table: { columns: [] }, version: undefined } : undefined;
}

async function createMarker(client: Client, name: string, columns: readonly Column[], row: Row): Promise<boolean> {
  const { rowsToIpc } = await import("../../wire/rows/write-rows.ts");
  try {
    await client.write("create", name, { body: { type: streamType, bytes: rowsToIpc(columns, [row]) } });
    return true;
  } catch (error) {
    // Services report a taken name in different ways, but the list contains it.
    if (verdictOf(error).kind === "refused" && (await client.exists(name))) return false;
    throw error;
  }
}

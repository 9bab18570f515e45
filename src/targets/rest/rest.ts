/** The target for a table service over HTTP. */
import type { z } from "zod";
import { isMigrateError } from "../../errors/migrate-error.ts";
import type { Action, ActionKind } from "../../actions/model/action.ts";
import { actionKinds } from "../../actions/apply-action.ts";
import type { FoundIndex } from "../../schema/table-index.ts";
import type { Column } from "../../schema/data-type.ts";
import { withWholeStructs } from "../../actions/rewrite/retype-whole-structs.ts";
import type { Row } from "../../wire/rows/ipc-rows.ts";
import type { OpenContext, TableSnapshot, Target } from "../contract/target.ts";
import { operationOf, sentFor } from "./actions.ts";
import { parseDescription, parseVersion } from "./parse-answers.ts";
import { streamType } from "../../wire/content-types.ts";
import { jsonBody } from "./http/message.ts";
import { openClient, type Client } from "./client.ts";
import { countRows } from "./count.ts";
import type { Endpoints } from "./options/dialects.ts";
import { settingsOf, type options } from "./options/options.ts";
import { holds } from "../contract/holds.ts";
import { putBack, restoreVersion } from "../contract/restore-versions.ts";
import { sampledWidths, type ReadRows } from "../contract/sampled-widths.ts";
import { verdictOf } from "../contract/service-verdict.ts";
import { explain } from "./http/http-errors.ts";
import { restRecords } from "./ledger-table.ts";
import { unwritable, type Vocabulary } from "./options/alter-types.ts";
import { keepsVersions, restoreRequest, restVersions, versionedTable } from "./versions.ts";

export { options } from "./options/options.ts";

export async function open(given: z.output<typeof options>, context: OpenContext): Promise<Target> {
  const settings = settingsOf(given, context);
  const client = openClient(settings);
  const { endpoints } = settings.dialect;
  const describes = endpoints.describe !== undefined;
  const dialectName = given.dialect ?? "service";
  const { types } = settings;
  return {
    name: context.name,
    place: settings.place,
    capabilities: {
      actions: Object.fromEntries(actionKinds.map((kind) => [kind, ability(kind, endpoints, dialectName)])),
      refuses: (action, before) => reasonAgainst(action, before?.columns ?? [], types),
      describes,
      fences: false,
    },
    listTables: client.list,
    describeTable: async (table, withIndexes = false) =>
      describes ? await describe(client, table, withIndexes) : await notice(client, table),
    async call(action, before) {
      if (action.kind === "restoreTable") return client.shown("restore", action.table, restoreRequest(action.version));
      if (action.kind === "putBackRows")
        return `${client.shown("insert", action.table, { body: undefined })} the rows that came after version ${action.since ?? action.version}`;
      const sent = await sentFor(action, before ?? { columns: [] }, types);
      return client.shown(operationOf(action.kind)!, action.table, sent);
    },
    async execute(action, seen) {
      const versioned = () => versionedTable(client, action.table);
      if (action.kind === "restoreTable") return await restoreVersion(versioned(), action);
      if (action.kind === "putBackRows") return await putBack(versioned(), action);
      const operation = operationOf(action.kind)!;
      const sent = await sentFor(action, seen?.table ?? { columns: [] }, types);
      const answer = await client.write(operation, action.table, sent);
      if (action.kind !== "alterColumns") return parseVersion(answer)?.version;
      const answered = parseVersion(answer);
      if (answered === undefined) throw client.strange(operation, action.table, answer, "answer to alter_columns");
      return answered.version;
    },
    versions: keepsVersions(endpoints)
      ? restVersions(client, (table, version) => indexesOf(client, table, version))
      : undefined,
    size: endpoints.count === undefined ? undefined : async (table) => ({ rows: await countRows(client, table) }),
    count:
      endpoints.count === undefined
        ? undefined
        : (table, predicate, version) => countRows(client, table, predicate, version),
    holds: keepsVersions(endpoints) ? (action) => holds(versionedTable(client, action.table), action) : undefined,
    widths:
      endpoints.query === undefined
        ? undefined
        : (table, expressions, rows) => sampledWidths(rowsOf(client, table), expressions, rows),
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
  };
}

function rowsOf(client: Client, table: string): ReadRows {
  return async (columns, k, offset) => {
    const wanted = { k, offset, vector: [], prefilter: true, columns: Object.fromEntries(columns) };
    return [(await client.read("query", table, wanted)).body];
  };
}

function ability(kind: ActionKind, endpoints: Endpoints, dialect: string): true | string {
  if ((kind === "restoreTable" || kind === "putBackRows") && keepsVersions(endpoints)) return true;
  if (kind === "refreshColumn")
    return "services refresh computed columns in jobs of their own, which no run can wait for";
  if (kind === "addField")
    return "services add columns by SQL expressions, which add no field to a struct; retypeColumn with the struct's name as `using` makes it as a whole, with the field";
  const operation = operationOf(kind);
  if (operation !== undefined && endpoints[operation] !== undefined) return true;
  return `the dialect ${dialect} has no request for ${kind}`;
}

function reasonAgainst(action: Action, columns: readonly Column[], vocabulary: Vocabulary): string | undefined {
  if (action.kind === "addColumns" && action.columns.some(({ computed }) => computed !== undefined))
    return "it could not refresh a computed column: services do that in jobs of their own, which no run can wait for";
  if (action.kind !== "alterColumns") return undefined;
  return withWholeStructs(columns, action.alterations)
    .map((one) => unwritable(one, vocabulary, columns))
    .find((reason) => reason !== undefined);
}

async function notice(client: Client, table: string): Promise<TableSnapshot | undefined> {
  return (await client.exists(table)) ? { table: { columns: [] }, version: undefined } : undefined;
}

async function describe(client: Client, table: string, withIndexes: boolean): Promise<TableSnapshot | undefined> {
  try {
    const answer = await client.read("describe", table, {});
    const found = parseDescription(answer);
    if (found === undefined) throw client.strange("describe", table, answer, "description of a table");
    const { withComputed } = await import("../../wire/arrow/computed-column.ts");
    const exact = found.vague ? await columnsOfRows(client, table, found.columns) : found.columns;
    const columns = exact.map(withComputed);
    const metadata = found.metadata && { metadata: found.metadata };
    const indexes = withIndexes ? { indexes: await indexesOf(client, table) } : {};
    return { table: { columns, ...indexes, ...metadata }, version: found.version };
  } catch (error) {
    if (await client.saysMissing(error, table)) return undefined;
    throw error;
  }
}

/** By name. */
async function indexesOf(
  client: Client,
  table: string,
  version?: number,
): Promise<Readonly<Record<string, FoundIndex>>> {
  const answer = await client.read("listIndexes", table, version === undefined ? {} : { version });
  const { parseIndexes } = await import("./parse-indexes.ts");
  const found = parseIndexes(answer);
  if (found === undefined) throw client.strange("listIndexes", table, answer, "list of indexes");
  return found;
}

/** The schema of a query's answer, which has the units, zones and dictionaries that a description may leave out. */
async function columnsOfRows(client: Client, table: string, described: readonly Column[]): Promise<readonly Column[]> {
  try {
    const answer = await client.read("query", table, { k: 1, vector: {} });
    const { fromIpc } = await import("../../wire/arrow/arrow-schema.ts");
    const exact = fromIpc(answer.body);
    return exact.length === described.length ? exact : described;
  } catch (error) {
    if (isMigrateError(error, "ERR_TARGET_UNREACHABLE")) throw error;
    return described;
  }
}

async function createMarker(client: Client, name: string, columns: readonly Column[], row: Row): Promise<boolean> {
  const { rowsToIpc } = await import("../../wire/rows/ipc-rows.ts");
  try {
    await client.write("create", name, { body: { type: streamType, bytes: rowsToIpc(columns, [row]) } });
    return true;
  } catch (error) {
    // Services report a taken name in different ways, but the list contains it.
    if (verdictOf(error).kind === "refused" && (await client.exists(name))) return false;
    throw error;
  }
}

/** A table service, over HTTP. */
import type { z } from "zod";
import { isMigrateError } from "../../errors.ts";
import type { Action } from "../../schema/action.ts";
import type { Column } from "../../schema/data-type.ts";
import { withWholeStructs } from "../../schema/whole-structs.ts";
import type { Row } from "../../wire/rows.ts";
import type { OpenContext, Sight, Target } from "../target.ts";
import { parseDescription, parseVersion } from "./answers.ts";
import { jsonType, streamType } from "../../wire/http-text.ts";
import { openClient, type Client } from "./client.ts";
import { settingsOf, type options } from "./options.ts";
import { verdictOf } from "../verdict.ts";
import { explain } from "./problems.ts";
import { restRecords } from "./records.ts";
import { toWire, unwritable, type Vocabulary } from "./types.ts";

export { options } from "./options.ts";

export async function open(given: z.output<typeof options>, context: OpenContext): Promise<Target> {
  const settings = settingsOf(given, context);
  const client = openClient(settings);
  const describes = settings.dialect.endpoints.describe !== undefined;
  const { types } = settings;
  return {
    name: context.name,
    capabilities: {
      actions: { createTable: true, alterColumns: true },
      refuses: (action, before) => reasonAgainst(action, before?.columns ?? [], types),
      describes,
      fences: false,
    },
    listTables: client.list,
    look: async (table) => (describes ? await describe(client, table) : await notice(client, table)),
    async execute(action, seen) {
      switch (action.kind) {
        case "createTable": {
          const { toIpcStream } = await import("../../wire/arrow-schema.ts"); // Arrow is slow to load
          const body = { type: streamType, bytes: toIpcStream(action.columns) };
          await client.write("create", action.table, body);
          return undefined;
        }
        case "alterColumns": {
          const columns = seen?.table.columns ?? [];
          const alterations = withWholeStructs(columns, action.alterations).map((one) => toWire(one, types, columns));
          const body = { type: jsonType, bytes: JSON.stringify({ alterations }) };
          const answer = await client.write("alter", action.table, body);
          const answered = parseVersion(answer);
          if (answered === undefined) throw client.strange("alter", action.table, answer, "answer to alter_columns");
          return answered.version;
        }
      }
    },
    verdict: verdictOf,
    explain,
    ledger: describes
      ? { kind: "rows", records: (shape) => restRecords(client, shape) }
      : { kind: "markers", create: (name, columns, row) => createMarker(client, name, columns, row) },
    discard:
      settings.dialect.endpoints.drop === undefined
        ? undefined
        : async (table) => void (await client.write("drop", table, { type: jsonType, bytes: "{}" })),
    close: client.close,
  };
}

function reasonAgainst(action: Action, columns: readonly Column[], vocabulary: Vocabulary): string | undefined {
  if (action.kind !== "alterColumns") return undefined;
  return withWholeStructs(columns, action.alterations)
    .map((one) => unwritable(one, vocabulary, columns))
    .find((reason) => reason !== undefined);
}

async function notice(client: Client, table: string): Promise<Sight | undefined> {
  return (await client.exists(table)) ? { table: { columns: [] }, version: undefined } : undefined;
}

async function describe(client: Client, table: string): Promise<Sight | undefined> {
  try {
    const answer = await client.read("describe", table, {});
    const found = parseDescription(answer);
    if (found === undefined) throw client.strange("describe", table, answer, "description of a table");
    const columns = found.vague ? await columnsOfRows(client, table, found.columns) : found.columns;
    return { table: { columns }, version: found.version };
  } catch (error) {
    if (await client.saysMissing(error, table)) return undefined;
    throw error;
  }
}

/** The schema of a query's answer, which is exact where a description leaves out units, zones and dictionaries. */
async function columnsOfRows(client: Client, table: string, described: readonly Column[]): Promise<readonly Column[]> {
  try {
    const answer = await client.read("query", table, { k: 1, vector: {} });
    const { fromIpc } = await import("../../wire/arrow-schema.ts");
    const exact = fromIpc(answer.body);
    return exact.length === described.length ? exact : described;
  } catch (error) {
    if (isMigrateError(error, "ERR_TARGET_UNREACHABLE")) throw error;
    return described;
  }
}

async function createMarker(client: Client, name: string, columns: readonly Column[], row: Row): Promise<boolean> {
  const { rowsToIpc } = await import("../../wire/rows.ts");
  try {
    await client.write("create", name, { type: streamType, bytes: rowsToIpc(columns, [row]) });
    return true;
  } catch (error) {
    // However a service says that the name is taken: it is in the list.
    if (verdictOf(error).kind === "refused" && (await client.exists(name))) return false;
    throw error;
  }
}

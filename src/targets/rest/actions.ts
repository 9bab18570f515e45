/** Converts each kind of action to the one request that executes it. */
import type { Action, ActionFor, ActionKind } from "../../actions/model/action.ts";
import { assignments } from "../../actions/kinds/rows/update-rows.ts";
import type { Table } from "../../schema/table.ts";
import { withWholeStructs } from "../../actions/rewrite/retype-whole-structs.ts";
import { streamType } from "../../wire/content-types.ts";
import type { Operation } from "./options/dialects.ts";
import { jsonBody, type HttpRequest } from "./http/message.ts";
import { toWire, type Vocabulary } from "./options/alter-types.ts";

/** The parts of a request that depend on the action. */
export interface Sent {
  readonly body: HttpRequest["body"];
  /** Values for the path's placeholders besides the table's name. */
  readonly names?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
}

interface Call<Kind extends ActionKind> {
  readonly operation: Operation;
  readonly send: (action: ActionFor<Kind>, before: Table, types: Vocabulary) => Sent | Promise<Sent>;
}

const calls: { readonly [Kind in ActionKind]?: Call<Kind> } = {
  addColumns: {
    operation: "addColumns",
    async send({ columns }) {
      const { sqlOf } = await import("../../wire/arrow/arrow-cast.ts");
      return {
        body: jsonBody({ new_columns: columns.map((column) => ({ name: column.name, expression: sqlOf(column) })) }),
      };
    },
  },
  alterColumns: {
    operation: "alter",
    send: ({ alterations }, { columns }, types) => ({
      body: jsonBody({ alterations: withWholeStructs(columns, alterations).map((one) => toWire(one, types, columns)) }),
    }),
  },
  createIndex: {
    operation: "createIndex",
    async send({ name, index }) {
      const { protocolKinds, protocolOptions } = await import("../../wire/lance/lance-index.ts");
      const options = Object.entries(index.options).map(([option, value]) => [
        protocolOptions[option] ?? option,
        value,
      ]);
      const named = { column: index.path, index_type: protocolKinds[index.kind], name, replace: false };
      return { body: jsonBody({ ...named, ...(Object.fromEntries(options) as object) }) };
    },
  },
  createTable: {
    operation: "create",
    async send({ columns, rows, metadata }) {
      if (rows !== undefined && rows.length > 0) {
        const { valuesToIpc } = await import("../../wire/rows/encode-rows.ts");
        return { body: { type: streamType, bytes: valuesToIpc(columns, rows, "stream", metadata) } };
      }
      const { toIpcStream } = await import("../../wire/arrow/arrow-schema.ts"); // Arrow is slow to load
      return { body: { type: streamType, bytes: toIpcStream(columns, metadata) } };
    },
  },
  deleteRows: { operation: "delete", send: ({ where }) => ({ body: jsonBody({ predicate: where }) }) },
  dropColumns: { operation: "dropColumns", send: ({ paths }) => ({ body: jsonBody({ columns: paths }) }) },
  dropIndex: { operation: "dropIndex", send: ({ name }) => ({ body: jsonBody({}), names: { index: name } }) },
  dropTable: { operation: "drop", send: () => ({ body: jsonBody({}) }) },
  insertRows: {
    operation: "merge",
    async send({ rows, key }, { columns }) {
      const { givenColumns, valuesToIpc } = await import("../../wire/rows/encode-rows.ts");
      const bytes = valuesToIpc(givenColumns(columns, rows), rows, "stream");
      return {
        body: { type: streamType, bytes },
        query: { on: key, when_not_matched_insert_all: "true", use_index: "false" },
      };
    },
  },
  renameTable: { operation: "rename", send: ({ name }) => ({ body: jsonBody({ new_table_name: name }) }) },
  setMetadata: {
    operation: "setMetadata",
    send: ({ updates }) => ({ body: jsonBody({ updates: updates.map((update) => ({ ...update, replace: false })) }) }),
  },
  updateRows: {
    operation: "update",
    send: (action) => ({ body: jsonBody({ predicate: action.where, updates: assignments(action) }) }),
  },
};

/** The operation that executes an action; undefined if the protocol has none. */
export function operationOf(kind: ActionKind): Operation | undefined {
  return calls[kind]?.operation;
}

/** What is sent for an action. `before`: the table before the action. */
export async function sentFor(action: Action, before: Table, types: Vocabulary): Promise<Sent> {
  // Each takes only its own kind, which TypeScript can't infer through the lookup.
  const call = calls[action.kind] as Call<ActionKind> | undefined;
  if (call === undefined) throw new TypeError(`the protocol has no ${action.kind}`);
  return await call.send(action, before, types);
}

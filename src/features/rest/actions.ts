/** The request for each kind of action, which is sent to execute it and shown in plans. */
import { count } from "../../errors/migrate-error.ts";
import type { Action, ActionFor, ActionKind } from "../../actions/model/action.ts";
import { preparedName, switching } from "../../actions/rewrite/prepared-columns.ts";
import type { Column } from "../../schema/data-type.ts";
import { extensionIn } from "../../schema/reserved-metadata.ts";
import type { Table } from "../../schema/table.ts";
import { withWholeStructs } from "../../actions/rewrite/retype-whole-structs.ts";
import { streamType } from "../../wire/content-types.ts";
import { assignments } from "../../targets/contract/assignments.ts";
import { reinsertRows, restoreVersion } from "../../targets/contract/restore-versions.ts";
import type { VersionedTable } from "../../targets/contract/versioned-table.ts";
import { operationsOfVersions, type Endpoints, type Operation } from "./options/dialects.ts";
import { jsonBody, type Sent } from "./http/message.ts";
import { toWire, unwritable, type Vocabulary } from "./options/alter-types.ts";

interface ServiceCall<Kind extends ActionKind> {
  readonly operation: Operation;
  /** All operations that it needs, if it sends more than one request. */
  readonly needs?: readonly Operation[];
  /** `before`: the table before the action. */
  readonly request: (action: ActionFor<Kind>, before: Table, types: Vocabulary) => Sent | Promise<Sent>;
  /** Why services can't execute this action although they support its kind; undefined if they can. */
  readonly refuses?: (action: ActionFor<Kind>, columns: readonly Column[], types: Vocabulary) => string | undefined;
  /** How it is executed, if that is more than sending the request. Returns the table's new version. */
  readonly execute?: (table: VersionedTable, action: ActionFor<Kind>) => Promise<number>;
  /** What a plan shows after the request. */
  readonly note?: (action: ActionFor<Kind>) => string;
}

/** By kind of action; for a kind that no service supports, the reason. */
const calls: { readonly [Kind in ActionKind]: ServiceCall<Kind> | string } = {
  addColumns: {
    operation: "addColumns",
    async request({ columns }) {
      const { columnSql } = await import("../../wire/arrow/arrow-cast.ts");
      return {
        body: jsonBody({
          new_columns: columns.map((column) => ({ name: column.name, expression: columnSql(column) })),
        }),
      };
    },
    refuses: ({ columns }) => {
      const special = columns.map(({ type }) => extensionIn(type)).find((kind) => kind !== undefined);
      if (special !== undefined)
        return `services add columns by SQL expressions, which can't create a ${special} column; create the table with it`;
      return columns.some(({ computed }) => computed !== undefined)
        ? "it could not refresh a computed column: services do that in jobs of their own, which no run can wait for"
        : undefined;
    },
  },
  addField:
    "services add columns by SQL expressions, which add no field to a struct; retypeColumn with the struct's name as `using` makes it as a whole, with the field",
  alterColumns: {
    operation: "alter",
    request: ({ alterations }, { columns }, types) => ({
      body: jsonBody({ alterations: withWholeStructs(columns, alterations).map((one) => toWire(one, types, columns)) }),
    }),
    refuses: ({ alterations }, columns, types) =>
      withWholeStructs(columns, alterations)
        .map((one) => unwritable(one, types, columns))
        .find((reason) => reason !== undefined),
  },
  convertColumn: "it takes several requests",
  createIndex: {
    operation: "createIndex",
    async request({ name, index, replace = false }) {
      const { protocolKinds, protocolOptions } = await import("../../wire/lance/lance-index.ts");
      const options = Object.entries(index.options).map(([option, value]) => [
        protocolOptions[option] ?? option,
        value,
      ]);
      const named = { column: index.path, index_type: protocolKinds[index.kind], name, replace };
      return { body: jsonBody({ ...named, ...(Object.fromEntries(options) as object) }) };
    },
  },
  backfillColumn: "it takes several calls",
  catchUpColumn: mergedByRun(),
  populateTable: {
    operation: "insert",
    // A target gives access to rows if it can merge them.
    needs: ["query", "insert", "delete", "merge"],
    request: () => ({ body: undefined }),
    execute: () => Promise.reject(new TypeError("a run computes rows itself")),
    note: ({ from }) => ` <rows computed from ${from}>`,
  },
  prepareColumn: mergedByRun(({ path }) => preparedName(path)),
  fillColumn: mergedByRun(),
  checkRecall: {
    operation: "query",
    // A target gives access to rows if it can merge them.
    needs: ["query", "count", "merge"],
    request: ({ index, k }) => ({ body: jsonBody({ vector_column: index.path, k: k + 1 }) }),
    execute: () => Promise.reject(new TypeError("a run checks recall itself")),
    note: ({ sample }) => ` with ${count(sample, "vector")}, with and without the index`,
  },
  createTable: {
    operation: "create",
    async request({ columns, rows, metadata }) {
      if (rows !== undefined && rows.length > 0) {
        const { rowsToIpc } = await import("../../wire/rows/write-rows.ts");
        return { body: { type: streamType, bytes: rowsToIpc(columns, rows, { metadata }) } };
      }
      const { toIpcStream } = await import("../../wire/arrow/arrow-schema.ts"); // Arrow is slow to load
      return { body: { type: streamType, bytes: toIpcStream(columns, metadata) } };
    },
  },
  deleteRows: { operation: "delete", request: ({ where }) => ({ body: jsonBody({ predicate: where }) }) },
  dropColumns: { operation: "dropColumns", request: ({ paths }) => ({ body: jsonBody({ columns: paths }) }) },
  dropIndex: { operation: "dropIndex", request: ({ name }) => ({ body: jsonBody({}), names: { index: name } }) },
  dropTable: { operation: "drop", request: () => ({ body: jsonBody({}) }) },
  insertRows: {
    operation: "merge",
    async request({ rows, key }, { columns }) {
      const { givenColumns, rowsToIpc } = await import("../../wire/rows/write-rows.ts");
      const bytes = rowsToIpc(givenColumns(columns, rows), rows);
      return {
        body: { type: streamType, bytes },
        query: { on: key, when_not_matched_insert_all: "true", use_index: "false" },
      };
    },
  },
  optimizeTable: "services bring indexes up to date on their own, and the protocol has no request for it",
  putBackRows: {
    operation: "insert",
    needs: operationsOfVersions,
    request: () => ({ body: undefined }),
    execute: reinsertRows,
    note: ({ version, since = version }) => ` the rows that came after version ${since}`,
  },
  rebuildIndex: "it is a request of another kind, createIndex",
  refreshColumn: "services refresh computed columns in jobs of their own, which no run can wait for",
  renameTable: { operation: "rename", request: ({ name }) => ({ body: jsonBody({ new_table_name: name }) }) },
  switchColumn: {
    operation: "alter",
    request: (action, before, types) => ({
      body: jsonBody({ alterations: switching(action, before).map((one) => toWire(one, types, before.columns)) }),
    }),
  },
  restoreTable: {
    operation: "restore",
    needs: operationsOfVersions,
    request: ({ version }) => ({ body: jsonBody({ version }) }),
    execute: restoreVersion,
  },
  setMetadata: {
    operation: "setMetadata",
    request: ({ updates }) => ({
      body: jsonBody({ updates: updates.map((update) => ({ ...update, replace: false })) }),
    }),
  },
  updateRows: {
    operation: "update",
    request: (action, { columns }) => ({
      body: jsonBody({ predicate: action.where, updates: assignments(action, columns) }),
    }),
  },
};

type ComputingKind = "catchUpColumn" | "fillColumn" | "prepareColumn";

/** The requests are those of a run, with values that code of the project computes (features/embed/fill), which `column` gets. */
function mergedByRun<Kind extends ComputingKind>(
  column: (action: ActionFor<ComputingKind>) => string = ({ path }) => path,
): ServiceCall<Kind> {
  return {
    operation: "merge",
    request: (action) => {
      const { key }: ActionFor<ComputingKind> = action;
      return { body: undefined, query: { on: key, when_matched_update_all: "true" } };
    },
    execute: () => Promise.reject(new TypeError("a run computes values itself")),
    note: (action) => ` <values of ${column(action)}>`,
  };
}

export function callFor({ kind }: Pick<Action, "kind">): ServiceCall<ActionKind> {
  const call = callOf(kind);
  if (call === undefined) throw new TypeError(`the protocol has no ${kind}`);
  return call;
}

/** Why the service can't execute the action although it supports its kind; undefined if it can. */
export function refusal(action: Action, columns: readonly Column[], types: Vocabulary): string | undefined {
  return callOf(action.kind)?.refuses?.(action, columns, types);
}

function callOf(kind: ActionKind): ServiceCall<ActionKind> | undefined {
  const call = calls[kind];
  // Each takes only its own kind, which TypeScript can't infer through the lookup.
  return typeof call === "string" ? undefined : (call as ServiceCall<ActionKind>);
}

/** What a user reads of an action that is not called as the step that it comes from. */
const inMigrations: { readonly [Kind in ActionKind]?: string } = {
  addColumns: "addColumn",
  addField: "addColumn",
  catchUpColumn: "reembedColumn",
  checkRecall: "createIndex",
  deleteRows: "execute",
  dropColumns: "dropColumn",
  fillColumn: "backfillColumn",
  prepareColumn: "reembedColumn",
  putBackRows: "old versions",
  restoreTable: "old versions",
  switchColumn: "reembedColumn",
  updateRows: "execute",
};

/** Which kinds of actions are supported through these endpoints; for the others, why not. */
export function supportedBy(endpoints: Endpoints, dialect: string): Readonly<Record<string, true | string>> {
  const entries = Object.entries(calls).map(([kind, call]) => {
    if (typeof call === "string") return [kind, call] as const;
    const isSupported = (call.needs ?? [call.operation]).every((operation) => endpoints[operation] !== undefined);
    return [
      kind,
      isSupported || `the dialect ${dialect} has no request for ${inMigrations[kind as ActionKind] ?? kind}`,
    ] as const;
  });
  return Object.fromEntries(entries);
}

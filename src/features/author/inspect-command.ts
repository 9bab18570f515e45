import { formatNumber, MigrateError } from "../../errors/migrate-error.ts";
import { formatType } from "../../schema/data-type.ts";
import { similarName } from "../../schema/names.ts";
import type { Database, Table } from "../../schema/table.ts";
import { viewOf } from "../../wire/lance/view.ts";
import { formatIndex } from "../../schema/table-index.ts";
import type { Target } from "../../targets/contract/target.ts";
import type { MigratorOptions } from "../../run/run-context.ts";
import { defineCommand, withSession } from "../../cli/command/command.ts";
import { choiceFlag, namesArgument } from "../../cli/command/flags.ts";
import type { Output } from "../../cli/command/output.ts";
import { renderTable } from "../../cli/render/table.ts";
import { adopt, undeclarable } from "./adopt/adopt-tables.ts";
import { schemaText } from "./scaffold/print-schema.ts";
import { mermaidLines } from "./adopt/mermaid.ts";
import { presentNames, presentTables, viewWords } from "./adopt/present-tables.ts";
import type * as shapes from "./json.ts";

const formats = ["text", "schema", "mermaid"] as const;

export const inspectCommand = defineCommand({
  describe: "print the present tables of a target: columns, indexes and rows",
  examples: [
    ["migrate inspect", "print all tables"],
    ["migrate inspect documents people --target production", "print two tables of another target"],
    ["migrate inspect --format schema", "print them as schema.ts declares tables"],
    ["migrate inspect --format mermaid", "print a diagram for Markdown"],
  ],
  flags: {
    tables: namesArgument("the tables; by default all", { value: "TABLE" }),
    format: choiceFlag("what to print: text, schema.ts, or a diagram of Mermaid", formats),
  },
  conflicts: [["format", "json"]],
  async run(context) {
    const { flags, output } = context;
    await withSession(context, async ({ options }) => {
      const { name, place } = options.target;
      const found = await inspected(options, flags.tables);
      if (flags.format === "schema") return printSchema(found, output);
      if (flags.format === "mermaid") return output.results(mermaidLines(found.tables));
      output.data<typeof shapes.inspect>({ target: name, tables: found.documents });
      for (const one of found.documents) printTable(one, output);
      if (found.documents.length === 0) output.result(`${name} has no tables at ${place}`);
    });
    return undefined;
  },
});

type TableDocument = ReturnType<typeof documentOf>;

/** Throws ERR_USAGE. */
async function inspected({ target, ledger }: MigratorOptions, only: readonly string[] | undefined) {
  const names = await presentNames({ target, ledger });
  for (const name of only ?? names) if (!names.includes(name)) throw unknownTable(target, name, names);
  const { tables, views, unreadable } = await presentTables(target, only === undefined ? names : [...new Set(only)]);
  const documents: TableDocument[] = [];
  for (const [name, table] of [...tables, ...views]) {
    const version = (await target.describeTable(name))?.version;
    documents.push({
      ...documentOf(name, table, await target.countRows?.(name)),
      version,
      viewOf: viewOf(table)?.from,
    });
  }
  for (const [name, columns] of unreadable)
    documents.push({ ...documentOf(name, { columns: [] }, undefined), unreadable: [...columns] });
  return { tables, views, documents };
}

function unknownTable(target: Target, name: string, names: readonly string[]): MigrateError {
  const similar = similarName(name, names);
  const problem = `${target.name} has no table ${name}${similar === undefined ? "" : `; did you mean ${similar}?`}`;
  return new MigrateError("ERR_USAGE", { problem });
}

/** `rows`: undefined if the target can't count them. */
function documentOf(name: string, { columns, indexes = {}, metadata = {} }: Table, rows: number | undefined) {
  return {
    name,
    rows,
    columns: columns.map((column) => ({
      name: column.name,
      type: formatType(column.type),
      nullable: column.nullable,
    })),
    indexes: Object.entries(indexes).flatMap(([own, index]) =>
      index === null ? [] : [{ name: own, on: index.path, type: formatIndex(index) }],
    ),
    metadata: Object.fromEntries(
      Object.entries(metadata).flatMap(([key, value]) => (value === null ? [] : [[key, value]])),
    ),
    version: undefined as number | undefined,
    unreadable: undefined as readonly string[] | undefined,
    viewOf: undefined as string | undefined,
  };
}

function printTable(
  { name, rows, version, columns, indexes, metadata, unreadable = [], viewOf: source }: TableDocument,
  output: Output,
): void {
  const size = rows === undefined ? [] : [`  ${formatNumber(rows)} ${rows === 1 ? "row" : "rows"}`];
  const at = version === undefined ? [] : [{ style: "dim", text: `  version ${version}` } as const];
  const from = source === undefined ? [] : [`  view of ${source}`];
  output.result([{ style: "bold", text: name }, ...from, ...size, ...at]);
  for (const column of unreadable)
    output.result({ style: "red", text: `  the engine can't read its column ${column}` });
  const lines = [
    ...columns.map((one) => [one.name, one.type, one.nullable ? "" : "not null"]),
    ...indexes.map((one) => [`index ${one.name}`, `on ${one.on}`, one.type]),
    ...Object.entries(metadata).map(([key, value]) => [`metadata ${key}`, value]),
  ];
  output.results(renderTable(lines.map(([first, ...cells]) => ({ cells: [`  ${first!}`, ...cells] }))));
}

/** Leaves out what `schema.ts` can't declare, and states it. */
function printSchema({ tables, views }: Record<"tables" | "views", Database>, output: Output): void {
  const problems = undeclarable(tables);
  const declarable = new Map(
    [...tables].filter(([name, table]) => undeclarable(new Map([[name, table]])).length === 0),
  );
  const { tables: declared, left } = adopt(new Map(), declarable);
  output.results(schemaText(declared).trimEnd().split("\n"));
  for (const words of [...viewWords(views), ...problems, ...left]) output.progress(`note: left out: ${words}`);
}

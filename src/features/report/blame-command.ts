import { blame, type BlamedColumn, type BlamedEvent } from "./blame.ts";
import { catchMigrateError, isMigrateError, MigrateError } from "../../errors/migrate-error.ts";
import { formatMigration } from "../../migrations/file-name.ts";
import { parsePath, type Path } from "../../schema/path.ts";
import { notationOf } from "../../schema/text/parse-notation.ts";
import { defineCommand, withTarget } from "../../cli/command/command.ts";
import { bundleFlags, neededArgument } from "../../cli/command/flags.ts";
import { changeWords } from "./columns/change-words.ts";
import { renderTable, type TableRow } from "../../cli/render/table.ts";
import { renderTime } from "../../cli/render/times.ts";
import type * as shapes from "./json.ts";

export const blameCommand = defineCommand({
  describe: "print which migrations changed a column, when, and who ran them",
  examples: [
    ["migrate blame documents.headline", "print the changes to a column, also under its earlier names"],
    ["migrate blame documents.source", "the same for a struct and all of its fields"],
    ["migrate blame documents", "the same for all columns that the table has or had"],
  ],
  flags: {
    column: neededArgument("TABLE.COLUMN, TABLE.STRUCT.FIELD or TABLE, as now or as before a rename"),
    ...bundleFlags,
  },
  async run(context) {
    const { flags, output } = context;
    const { table, path } = placeIn(flags.column);
    const [{ columns, problems }, target] = await withTarget(
      context,
      async (options) => await blame(options, table, path),
    );
    output.data<typeof shapes.blame>({ target, columns: columns.map(documentOf), problems });
    for (const [index, column] of columns.entries()) {
      if (index > 0) output.result("");
      output.result({ style: "bold", text: titleOf(column) });
      output.results(renderTable(column.events.map(toRow), output));
    }
    for (const text of problems) output.result({ style: "yellow", text });
    return undefined;
  },
});

function placeIn(given: string | undefined): { readonly table: string; readonly path: Path } {
  if (given === undefined)
    throw new MigrateError("ERR_USAGE", { problem: "migrate blame needs a column, such as documents.headline" });
  const parsed = () => notationOf(given, "", "");
  return catchMigrateError(
    () => {
      const start = parsed();
      const table = start.name();
      if (!start.takes(".")) {
        start.end();
        return { table, path: [] };
      }
      const whole = parsed();
      const { path } = whole.column();
      whole.end();
      return { table, path: parsePath(path) };
    },
    (cause) => {
      const problem = isMigrateError(cause, "ERR_NOTATION") ? cause.details.problem : cause.message;
      throw new MigrateError(
        "ERR_USAGE",
        { problem: `migrate blame ${JSON.stringify(given)}: ${problem}; write TABLE or TABLE.COLUMN` },
        { cause },
      );
    },
  );
}

function documentOf({ events, ...column }: BlamedColumn) {
  return {
    ...column,
    events: events.map(({ at, ...event }) => ({ ...event, at: at === undefined ? at : new Date(at).toISOString() })),
  };
}

function titleOf({ names, now, events }: BlamedColumn): string {
  const [newest] = events;
  const name = now === undefined ? names.at(-1)! : `${now.table}.${now.path}`;
  const others = names.filter((one) => one !== name);
  const before = others.length === 0 ? "" : `, before that ${others.toReversed().join(", ")}`;
  const pending = newest?.status === "pending" ? "; once the pending migrations are applied" : "";
  return `${name} (${now === undefined ? "dropped" : now.type})${before}${pending}`;
}

function toRow({ status, at, by = "", name, version, step, ...change }: BlamedEvent): TableRow {
  const state = { applied: "", baselined: ", marked as applied", partial: ", not complete", pending: "" }[status];
  const when = at === undefined ? ({ style: "yellow", text: status } as const) : renderTime(at);
  return {
    cells: [formatMigration({ version, name }), `step ${step}`, when, by],
    note: `${changeWords(change)}${state}`,
  };
}

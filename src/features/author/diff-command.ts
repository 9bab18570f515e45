import { formatVersion } from "../../migrations/file-name.ts";
import { count, MigrateError } from "../../errors/migrate-error.ts";
import { databaseAfter, schemaRevisions } from "../../run/schema-history.ts";
import type { Database } from "../../schema/table.ts";
import type { Session } from "../../session/session.ts";
import { defineCommand, withAnySession, withSession, type Context } from "../../cli/command/command.ts";
import { neededArgument, switchFlag } from "../../cli/command/flags.ts";
import type { Output } from "../../cli/command/output.ts";
import { compareDatabases, type DatabaseDifference } from "./adopt/compare-databases.ts";
import { presentNames, presentTables } from "./adopt/present-tables.ts";
import type * as shapes from "./json.ts";

export const diffCommand = defineCommand({
  describe: "compare the tables of two targets, or of a target and a point of the history",
  examples: [
    ["migrate diff staging production", "which tables, columns and indexes differ"],
    ["migrate diff production 42 --check", "exit with 3 if production is not as migration 42 leaves tables"],
  ],
  exits: { pending: "with --check: they differ" },
  flags: {
    from: neededArgument("a target, or the number of a migration", { value: "TARGET" }),
    to: neededArgument("what it is compared with: a target, or the number of a migration", { value: "TARGET" }),
    check: switchFlag("exit with 3 if they differ"),
  },
  async run(context) {
    const { from, to, check } = context.flags;
    if (from === undefined || to === undefined)
      throw new MigrateError("ERR_USAGE", { problem: "give two sides, such as migrate diff staging production" });
    const [one, other] = [await sideOf(from, context), await sideOf(to, context)];
    const unread = [...one.unread.values(), ...other.unread.values()].flat();
    const isRead = ({ table }: DatabaseDifference) => !one.unread.has(table) && !other.unread.has(table);
    const differences = compareDatabases(one.tables, other.tables).filter(isRead);
    const equal = differences.length + unread.length === 0;
    const { output } = context;
    output.data<typeof shapes.diff>({ equal, from, to, differences, unread });
    if (equal) output.result(`equal: ${count(one.tables.size, "table")} (${notCompared})`);
    if (differences.length > 0) output.result(`- ${from}, + ${to}`);
    for (const difference of differences) printDifference(difference, output);
    for (const words of unread) output.result({ style: "yellow", text: `not compared: ${words}` });
    return equal || check !== true ? undefined : "pending";
  },
});

const notCompared = "the metadata of columns and most parameters of indexes are not compared";

function printDifference({ table, what, from, to }: DatabaseDifference, output: Output): void {
  const name = what === "table" ? table : `${table}: ${what === "order" ? "order of columns" : what}`;
  const text = (words: string) => (what === "table" ? `table ${name} (${words})` : `${name} ${words}`);
  if (from !== undefined) output.result({ style: "red", text: `- ${text(from)}` });
  if (to !== undefined) output.result({ style: "green", text: `+ ${text(to)}` });
}

interface Side {
  readonly tables: Database;
  /** What could not be read of other tables, as text, by their names. */
  readonly unread: ReadonlyMap<string, readonly string[]>;
}

async function sideOf(word: string, context: Context): Promise<Side> {
  if (/^\d+$/.test(word)) return await withAnySession(context, async (session) => await pointOf(Number(word), session));
  return await withSession({ ...context, flags: { ...context.flags, target: word } }, async ({ options }) => {
    const { name, place } = options.target;
    const { tables, views, unreadable } = await presentTables(options.target, await presentNames(options));
    // The address may be mistyped.
    if (tables.size + views.size + unreadable.size === 0)
      context.output.progress(`note: ${name} has no tables at ${place}`);
    const words = (table: string, column: string) => `${table}.${column} of ${name}, which the engine can't read`;
    const unread = [...unreadable].map(([table, columns]) => [table, columns.map((one) => words(table, one))] as const);
    return { tables: new Map([...tables, ...views]), unread: new Map(unread) };
  });
}

/** Throws ERR_USAGE. */
async function pointOf(version: number, { options }: Session): Promise<Side> {
  const revisions = await schemaRevisions(options);
  if (!revisions.some((one) => one.version === version))
    throw new MigrateError("ERR_USAGE", {
      problem: `there is no migration ${formatVersion(version)}, and no target of that name`,
    });
  return { tables: databaseAfter(revisions.filter((one) => one.version <= version)), unread: new Map() };
}

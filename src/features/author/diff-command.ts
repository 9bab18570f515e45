import { formatVersion } from "../../migrations/file-name.ts";
import { count, MigrateError } from "../../errors/migrate-error.ts";
import { databaseAfter, schemaRevisions } from "../../run/schema-history.ts";
import type { Database, Table } from "../../schema/table.ts";
import type { Session } from "../../session/session.ts";
import { defineCommand, withAnySession, withSession, type Context } from "../../cli/command/command.ts";
import { neededArgument, switchFlag } from "../../cli/command/flags.ts";
import { adopt, undeclarable } from "./adopt/adopt-tables.ts";
import { describeSteps } from "../shared/written-files.ts";
import { presentNames, presentTables } from "./adopt/present-tables.ts";
import type * as shapes from "./json.ts";

export const diffCommand = defineCommand({
  describe: "compare the tables of two targets, or of a target and a point of the history",
  examples: [
    ["migrate diff staging production", "what would have to change on staging so that it is as production"],
    ["migrate diff production 42 --check", "exit with 3 if production is not as migration 42 leaves tables"],
  ],
  exits: { pending: "with --check: they differ" },
  flags: {
    from: neededArgument("a target, or the number of a migration"),
    to: neededArgument("what it is compared with: a target, or the number of a migration"),
    check: switchFlag("exit with 3 if they differ"),
  },
  async run(context) {
    const { from, to, check } = context.flags;
    if (from === undefined || to === undefined)
      throw new MigrateError("ERR_USAGE", { problem: "give two sides, such as migrate diff staging production" });
    const [one, other] = [await sideOf(from, context), await sideOf(to, context)];
    const { steps, impossible, left } = adopt(one.tables, other.tables, { renamesTables: false, addsFields: true });
    const words = describeSteps(steps);
    const unlike = [...one.problems, ...other.problems, ...impossible, ...left];
    const equal = words.length + unlike.length === 0;
    const { output } = context;
    output.data<typeof shapes.diff>({ equal, from, to, steps: words, unlike });
    if (equal) output.result(`equal: ${count(one.tables.size, "table")}`);
    else output.result(`what leads from the tables of ${from} to those of ${to}:`);
    for (const line of words) output.result(`  ${line}`);
    for (const line of unlike) output.result({ style: "yellow", text: `  no step compares ${line}` });
    return equal || check !== true ? undefined : "pending";
  },
});

interface Side {
  readonly tables: Database;
  /** What could not be compared, as text. */
  readonly problems: readonly string[];
}

async function sideOf(word: string, context: Context): Promise<Side> {
  if (/^\d+$/.test(word)) return await withAnySession(context, async (session) => await pointOf(Number(word), session));
  return await withSession({ ...context, flags: { ...context.flags, target: word } }, async ({ options }) => {
    const { tables, unreadable } = await presentTables(options.target, await presentNames(options));
    const isComparable = (name: string, table: Table) => undeclarable(new Map([[name, table]])).length === 0;
    const columns = [...unreadable].flatMap(([name, all]) =>
      all.map((one) => `${name}.${one}, which the engine can't read`),
    );
    return {
      tables: new Map([...tables].filter(([name, table]) => isComparable(name, table))),
      problems: [...columns, ...undeclarable(tables)],
    };
  });
}

/** Throws ERR_USAGE. */
async function pointOf(version: number, { options }: Session): Promise<Side> {
  const revisions = await schemaRevisions(options);
  if (!revisions.some((one) => one.version === version))
    throw new MigrateError("ERR_USAGE", {
      problem: `there is no migration ${formatVersion(version)}, and no target of that name`,
    });
  return { tables: databaseAfter(revisions.filter((one) => one.version <= version)), problems: [] };
}

import { discardPrepared } from "../../commands/discard-prepared.ts";
import { prepare, type PreparedColumn } from "../../commands/prepare.ts";
import { count } from "../../errors/migrate-error.ts";
import { formatMigration } from "../../migrations/file-name.ts";
import type { Shard } from "../../run/fill/shard.ts";
import { defineCommand, withTarget } from "../command/command.ts";
import { bundleFlags, leaseFlags, switchFlag, valueFlag, wrongFlag } from "../command/flags.ts";
import { runEvents } from "../render/events.ts";
import { preparedWords } from "../render/status.ts";

export const prepareCommand = defineCommand({
  usage: "prepare",
  describe: "compute ahead what pending migrations need and applications don't see",
  stopping: "stopping; the next migrate prepare resumes where this one stopped",
  flags: {
    shard: valueFlag("compute only this part of the rows, such as 3/16, and create no index", shardOf),
    discard: switchFlag("drop what was prepared, also for migrations that no longer exist"),
    ...bundleFlags,
    ...leaseFlags,
  },
  conflicts: [["discard", "shard"]],
  async run(context) {
    const { flags, output } = context;
    const emit = runEvents(context, (event) => output.data(event));
    if (flags.discard === true) {
      const [tables] = await withTarget(context, discardPrepared, emit);
      output.data({ event: "discarded", tables });
      for (const table of tables) output.result(`dropped the prepared columns of ${table}`);
      if (tables.length === 0) output.result("nothing to discard");
      return;
    }
    const [prepared] = await withTarget(context, (options) => prepare(options, { shard: flags.shard }), emit);
    for (const one of prepared) output.result(lineOf(one));
    if (prepared.length === 0) output.result("nothing to prepare");
    output.data({ event: "prepared", columns: prepared });
  },
});

function lineOf(prepared: PreparedColumn): string {
  const { table, path, waitsFor, progress, neighbours } = prepared;
  const what = `${table}.${path} for ${formatMigration(prepared)}`;
  if (waitsFor === undefined)
    return `prepared ${what}${progress === undefined ? "" : `: ${preparedWords(progress)}`}${neighbourWords(neighbours)}`;
  const first = formatMigration(waitsFor);
  return waitsFor.version === prepared.version
    ? `not prepared: ${what}, because its steps before this one change ${table}; move the step to a migration of its own`
    : `not prepared: ${what}, because ${first} is pending and changes ${table}; run migrate up --to ${waitsFor.version} first`;
}

function neighbourWords(neighbours: PreparedColumn["neighbours"]): string {
  if (neighbours === undefined) return "";
  const { k, sampled, shared } = neighbours;
  return `; of the ${k} nearest rows of ${count(sampled, "row")}, ${shared.toFixed(1)} are the same as with the old values`;
}

/** Reads `3/16`. */
function shardOf(text: string): Shard {
  const [index, of, ...rest] = text.split("/").map(Number);
  const isRight = rest.length === 0 && Number.isInteger(index) && Number.isInteger(of) && index! >= 1 && index! <= of!;
  if (!isRight || of! > 1_000)
    return wrongFlag("must be a part and the number of parts, such as 3/16 (from 1/16 to 16/16)");
  return { index: index!, of: of! };
}

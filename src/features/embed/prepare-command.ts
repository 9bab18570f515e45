import { getPriority, setPriority } from "node:os";
import { join } from "node:path";
import { discardPrepared } from "./prepare/discard-prepared.ts";
import { prepareOnRay } from "./prepare/prepare-on-ray.ts";
import { prepare, type PreparedColumn } from "./prepare/prepare.ts";
import { count, MigrateError } from "../../errors/migrate-error.ts";
import { formatMigration } from "../../migrations/file-name.ts";
import { evaluationWords } from "../../cli/render/recall.ts";
import type { RunEvent } from "../../run/events.ts";
import type { Shard } from "./compute/shard.ts";
import { packageFolder } from "../../engine/package/package-folder.ts";
import { budgetOf, defineCommand, withTarget, type Context } from "../../cli/command/command.ts";
import {
  budgetFlags,
  bundleFlags,
  configFlags,
  leaseFlags,
  patternFlag,
  pythonFlag,
  switchFlag,
  valueFlag,
  wholeFlag,
  wrongFlag,
  type FlagValues,
} from "../../cli/command/flags.ts";
import { runEvents } from "../../cli/render/events.ts";
import { preparedWords, restWords } from "../../cli/render/progress.ts";
import type * as shapes from "./json.ts";

const mostShards = 1_000;

/** The priority of a process that is not urgent, from -20 to 19 for the least urgent. */
const belowNormal = 10;

/** What a shard on a worker gets as well. */
const passedFlags = { ...configFlags, ...bundleFlags, ...leaseFlags };

const rayFlags = {
  on: patternFlag("run the shards on this cluster: ray", /^ray$/, "must be ray", { value: "ray" }),
  shards: wholeFlag("how many parts the cluster computes", 1, mostShards),
  "ray-options": valueFlag('options of the tasks on Ray, as JSON, such as {"num_gpus": 1}', objectOf, {
    value: "JSON",
  }),
};

export const prepareCommand = defineCommand({
  describe: "compute ahead what pending migrations need and applications don't see",
  examples: [
    ["migrate prepare", "compute everything on this machine"],
    ["migrate prepare --shard 3/16", "compute one of 16 parts"],
    ["migrate prepare --on ray --shards 16", "compute 16 parts on a Ray cluster"],
  ],
  stopping: "stopping; the next migrate prepare resumes where this one stopped",
  flags: {
    shard: valueFlag("compute only this part of the rows, such as 3/16, and create no index", shardOf, {
      value: "I/N",
    }),
    discard: switchFlag("drop what was prepared, also for migrations that no longer exist"),
    ...rayFlags,
    ...budgetFlags,
    ...bundleFlags,
    ...leaseFlags,
    ...pythonFlag,
  },
  conflicts: [
    ["shard", "on", "shards"],
    ["discard", "shard", "on", "shards", "max-calls", "max-cost"],
    // Processes on other machines can't share a limit.
    ["on", "max-calls", "max-cost"],
  ],
  async run(context) {
    yieldProcessor();
    const { flags, output } = context;
    const onRay = rayChoice(flags);
    const evaluations = new Map<string, EvaluatedEvent>();
    const emit = runEvents(context, (event) => {
      output.data<typeof shapes.prepare>(event);
      if (event.event === "evaluated") evaluations.set(`${event.table}.${event.path}`, event);
    });
    if (flags.discard === true) {
      const [{ tables, values }] = await withTarget(context, discardPrepared, emit);
      output.data<typeof shapes.prepare>({ event: "discarded", tables, values });
      for (const table of tables) output.result(`dropped the prepared columns of ${table}`);
      if (values > 0) output.result(`dropped ${count(values, "computed value")} that were not in a column yet`);
      if (tables.length === 0 && values === 0) output.result("nothing to discard");
      return;
    }
    const run = async (options: Parameters<typeof prepare>[0]) => {
      const python = options.python ?? "python3";
      if (onRay !== undefined) await runOnRay({ ...onRay, python }, context);
      const loaders = onRay && { python, workers: onRay.shards };
      return await prepare({ ...options, budget: budgetOf(flags) }, { shard: flags.shard, loaders });
    };
    const [prepared] = await withTarget(context, run, emit);
    for (const one of prepared)
      output.result(
        `${lineOf(one, flags.shard === undefined)}${evaluatedWords(evaluations.get(`${one.table}.${one.path}`))}`,
      );
    if (prepared.length === 0) output.result("nothing to prepare");
    output.data<typeof shapes.prepare>({ event: "prepared", columns: prepared });
  },
});

/** The queries of an application on the same machine come first. Threads and processes that are started later inherit this. */
function yieldProcessor(): void {
  try {
    setPriority(Math.max(getPriority(), belowNormal));
  } catch {
    // Some systems do not allow it.
  }
}

/** `isWhole`: whether it computes all rows, and not only those of a shard. */
function lineOf(prepared: PreparedColumn, isWhole: boolean): string {
  const { table, path, waitsFor, progress, neighbours } = prepared;
  const what = `${table}.${path} for ${formatMigration(prepared)}`;
  if (waitsFor === undefined) {
    const done =
      progress && `: ${preparedWords({ ...progress, perSecond: undefined })}${isWhole ? restWords(progress) : ""}`;
    return `prepared ${what}${done ?? ""}${neighbourWords(neighbours)}`;
  }
  const first = formatMigration(waitsFor);
  return waitsFor.version === prepared.version
    ? `not prepared: ${what}, because its steps before this one change ${table}; move the step to a migration of its own`
    : `not prepared: ${what}, because ${first} is pending and changes ${table}; run migrate up --to ${waitsFor.version} first`;
}

function neighbourWords(neighbours: PreparedColumn["neighbours"]): string {
  if (neighbours === undefined) return "";
  const { k, sampled, shared } = neighbours;
  return `; for ${count(sampled, "row")}, ${shared.toFixed(1)} of the ${k} nearest rows are the same as with the old values, on average`;
}

type EvaluatedEvent = Extract<RunEvent, { readonly event: "evaluated" }>;

function evaluatedWords(evaluation: EvaluatedEvent | undefined): string {
  if (evaluation === undefined) return "";
  const { least, isEnough } = evaluation;
  return `; ${evaluationWords(evaluation)}${isEnough ? "" : `; migrate up will not switch the column, because \`least\` is ${least}`}`;
}

type RayFlags = FlagValues<typeof rayFlags>;

/** Undefined if all is computed here. Throws ERR_USAGE. */
function rayChoice({ on, shards, "ray-options": options = {} }: RayFlags) {
  const problem = (text: string) => new MigrateError("ERR_USAGE", { problem: text });
  if (on === undefined) {
    if (shards !== undefined)
      throw problem(
        "--shards needs --on ray; without Ray, start a process for each part, with --shard 1/N to --shard N/N",
      );
    return undefined;
  }
  if (shards === undefined) throw problem("--on ray needs --shards N, the number of parts to compute");
  return { shards, options };
}

async function runOnRay(
  choice: NonNullable<ReturnType<typeof rayChoice>> & { readonly python: string },
  { flags, output, signal, underWay }: Context,
): Promise<void> {
  const passed = Object.keys(passedFlags) as readonly (keyof typeof passedFlags)[];
  const given = passed.flatMap((name) => (flags[name] === undefined ? [] : [`--${name}=${flags[name]}`]));
  const own = packageFolder();
  underWay(true);
  await prepareOnRay({
    ...choice,
    script: join(own, "python/prepare_on_ray.py"),
    command: [process.execPath, join(own, "dist/bin.js"), "prepare", ...given],
    folder: process.cwd(),
    signal,
    onLine: (line, kind) => output[kind](line),
  });
  underWay(false);
}

function objectOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  } catch {
    // Below.
  }
  return wrongFlag("must be a JSON object");
}

/** Reads `3/16`. */
function shardOf(text: string): Shard {
  const [index, of, ...rest] = text.split("/").map(Number);
  const isRight = rest.length === 0 && Number.isInteger(index) && Number.isInteger(of) && index! >= 1 && index! <= of!;
  if (!isRight || of! > mostShards)
    return wrongFlag("must be a part and the number of parts, such as 3/16 (from 1/16 to 16/16)");
  return { index: index!, of: of! };
}

import { count, formatNumber } from "../../errors/migrate-error.ts";
import { formatMigration } from "../../migrations/file-name.ts";
import { rehearse, type Rehearsal, type RehearsedMigration, type RehearsedStep } from "./rehearse.ts";
import { openScratch } from "../../targets/index.ts";
import { defineCommand, withTarget } from "../../cli/command/command.ts";
import { acceptFlag, bundleFlags, switchFlag, versionFlag, wholeFlag } from "../../cli/command/flags.ts";
import type { Line } from "../../cli/command/output.ts";
import { showProgress } from "../../cli/render/progress.ts";
import { renderDuration } from "../../cli/render/times.ts";
import { refusalText } from "../../cli/render/plan-words.ts";
import type { rehearse as shape } from "./json.ts";
import type { StepSample } from "../../run/computed.ts";

export const rehearseCommand = defineCommand({
  describe: "run up and down on a copy of the tables; changes nothing",
  examples: [
    ["migrate rehearse", "run the pending migrations up, down and up again on a copy"],
    ["migrate rehearse --sample 100", "also run the code that computes columns on 100 rows of the real tables"],
  ],
  exits: {
    failed: "a step fails on the copy, a promise of the plan does not hold, or the code fails on a row of the sample",
  },
  flags: {
    to: versionFlag("rehearse migrations up to this number only"),
    "allow-out-of-order": switchFlag("also rehearse migrations with a lower number than an applied one"),
    accept: acceptFlag("rehearse as with up --accept: lossy or irreversible"),
    rows: wholeFlag("rows to generate for a table that can't be copied (1000)", 0),
    sample: wholeFlag("also run the code that computes columns, on this many rows of the real tables", 1, 100_000),
    ...bundleFlags,
  },
  async run(context) {
    const { flags, output } = context;
    const { to, accept, rows, sample, "allow-out-of-order": allowOutOfOrder } = flags;
    // The result has a line for each step.
    const progress = showProgress(output);
    const [found, target] = await withTarget(
      context,
      (options) => rehearse(options, { to, accept, rows, sample, allowOutOfOrder }, openScratch),
      Object.assign(progress.see, { end: progress.end }),
    );
    const { problem, ...rest } = found;
    output.data<typeof shape>({
      target,
      ...rest,
      problem: problem && { code: problem.code, message: problem.message },
    });
    if (rows !== undefined && found.tables.some(({ cloned }) => cloned))
      output.progress("note: --rows has no effect on tables that could be copied");
    if (sample !== undefined && !found.migrations.some(({ steps }) => steps.some((step) => step.sample)))
      output.progress("note: --sample has no effect: no code of the project computes values");
    for (const line of linesOf(found)) output.result(line);
    return problem;
  },
});

function linesOf({ tables, migrations, unreached, problem }: Rehearsal): readonly Line[] {
  if (migrations.length === 0 && problem === undefined) return ["nothing to rehearse"];
  return [
    ...tables.map(
      ({ table, rows, cloned }) => `${table}: ${cloned ? "cloned" : "generated"} with ${count(rows, "row")}`,
    ),
    ...migrations.flatMap(migrationLines),
    ...unreached.map((one): Line => [{ style: "bold", text: formatMigration(one) }, ": not reached"]),
    ...(migrations.length === 0 ? [] : [totals(migrations)]),
  ];
}

function migrationLines(rehearsed: RehearsedMigration): readonly Line[] {
  const { up, down, again } = rehearsed.durations;
  const times = timesText({ up, down, "up again": again });
  return [[{ style: "bold", text: formatMigration(rehearsed) }, times], ...rehearsed.steps.flatMap(stepLines)];
}

function stepLines({ text, up, down, refusal, verdict, reason, class: is, sample }: RehearsedStep): readonly Line[] {
  const words = { kept: "kept", refused: "refused", broken: "broken", untried: "not tried" }[verdict];
  const line = `    ${is ?? "as its file exports"}: ${words}${reason === undefined ? "" : `: ${reason}`}`;
  return [
    `  ${text}${timesText({ up, down })}`,
    { style: verdict === "kept" ? "dim" : verdict === "broken" ? "red" : "yellow", text: line },
    ...(sample === undefined ? [] : sampleLines(sample)),
    ...(refusal === undefined ? [] : [{ style: "red", text: `    ${refusalText(refusal)}` } as const]),
  ];
}

function sampleLines(sample: StepSample): readonly Line[] {
  if ("untried" in sample) return [{ style: "yellow", text: `    code: not tried: ${sample.untried}` }];
  const { computed, failed, problems, calls, callTime, rowsPerSecond, isSteady, total, duration } = sample;
  const each = callTime === undefined ? "" : `, ${renderDuration(callTime)} per call`;
  const rate = rowsPerSecond === undefined ? "" : `, ${numberText(rowsPerSecond)} rows per second`;
  const all = `    all ${count(total, "row")}: about ${renderDuration(duration ?? 0)}`;
  return [
    `    code: ${count(computed, "row")} computed in ${count(calls, "call")}${each}${rate}`,
    ...(duration === undefined ? [] : [all]),
    ...(isSteady || duration === undefined
      ? []
      : ["    a larger sample gives a better estimate: its first calls are then left out"]),
    ...(failed === 0
      ? []
      : [{ style: "red", text: `    ${count(failed, "row")} failed; ${problems.join("; ")}` } as const]),
  ];
}

function numberText(number: number): string {
  return formatNumber(number < 100 ? Number(number.toPrecision(2)) : Math.round(number));
}

function timesText(times: Readonly<Record<string, number | undefined>>): string {
  const known = Object.entries(times).flatMap(([name, time]) =>
    time === undefined ? [] : [`${name} ${renderDuration(time)}`],
  );
  return known.length === 0 ? "" : ` (${known.join(", ")})`;
}

function totals(migrations: readonly RehearsedMigration[]): string {
  const steps = migrations.flatMap((one) => one.steps);
  const many = (verdict: RehearsedStep["verdict"]) => steps.filter((step) => step.verdict === verdict).length;
  const sum = (way: keyof RehearsedMigration["durations"]) =>
    migrations.reduce((all, { durations }) => all + (durations[way] ?? 0), 0);
  const verdicts = [
    [many("kept"), "kept"],
    [many("refused"), "refused"],
    [many("broken"), "broken"],
    [many("untried"), "not tried"],
  ] as const;
  const found = verdicts.flatMap(([number, words]) => (number === 0 ? [] : [`${number} ${words}`])).join(", ");
  const times = timesText({ up: sum("up"), down: sum("down"), "up again": sum("again") });
  return `${count(migrations.length, "migration")} rehearsed, ${count(steps.length, "step")}: ${found}${times}`;
}

/** Tries the code of the project that a plan runs, on some rows of the real tables. Writes nothing. */
import { sqlPath } from "../../../schema/sql.ts";
import type { Action } from "../../../actions/model/action.ts";
import { computationSql } from "../../../actions/model/computation.ts";
import type { ComputedValues } from "../../../actions/model/action-model.ts";
import { computedColumn, computedIn, sourceNow } from "../../../plan/assess/rows-to-compute.ts";
import type { Plan, PlannedAction, PlannedMigration } from "../../../plan/make-plan.ts";
import { costs } from "../../../run/prepare/estimate.ts";
import { findRowsToCompute } from "./count-rows.ts";
import { sampleCode } from "../compute/sample-code.ts";
import { inShard } from "../compute/shard.ts";
import { throwIfInterrupted } from "../../../run/lease/wait-for-lease.ts";
import type { MigratorOptions } from "../../../run/run-context.ts";
import type { RowValues } from "../../../schema/row-values.ts";
import { systemClock } from "../../../time/clock.ts";
import type { StepSample } from "../../../run/computed.ts";

/** The samples of those actions of these migrations for which code runs, of at most `size` rows each. */
export async function sampleSteps(
  options: MigratorOptions,
  plan: Plan,
  migrations: readonly PlannedMigration[],
  size: number,
): Promise<ReadonlyMap<PlannedAction, StepSample>> {
  const known = await costs(plan, options);
  const samples = new Map<PlannedAction, StepSample>();
  const before: Action[] = [];
  for (const one of migrations.flatMap(({ actions }) => actions)) {
    const values = computedIn(one.commits);
    // The rehearsal itself computes what SQL gives.
    if (values !== undefined && computationSql(values.how) === undefined) {
      const { rows = null, seconds } = known.get(one)!.cost.computed ?? {};
      const found = await sampleRows(options, { planned: one, values, before, now: plan.now, total: rows, size });
      samples.set(one, "untried" in found ? found : await sample(options, one, values, found, seconds ?? 0));
      throwIfInterrupted(options.signal);
    }
    before.push(one.action);
  }
  return samples;
}

interface SampledRows {
  readonly rows: readonly RowValues[];
  readonly total: number;
}

interface SampledStep {
  readonly planned: PlannedAction;
  readonly values: ComputedValues;
  readonly before: readonly Action[];
  readonly now: Plan["now"];
  readonly total: number | null;
  readonly size: number;
}

const unknown = { untried: "an earlier step of the plan changes what it reads, so it has to run first" };

/** Some of the rows that the step computes, from all parts of the table. */
async function sampleRows(
  { target }: MigratorOptions,
  { planned: { action, commits }, values, before, now, total, size }: SampledStep,
): Promise<SampledRows | Extract<StepSample, { untried: string }>> {
  if (total === 0) return { untried: "there is no row to compute" };
  const { from, key } = values.how;
  const wanted = await findRowsToCompute(commits, before, now, target);
  const sources = [...new Set([key, ...from])].map(
    (name) => [name, sourceNow({ table: action.table, path: [name] }, before, now)] as const,
  );
  const select = sources.flatMap(([name, path]) => (path === undefined ? [] : [[name, sqlPath(path)] as const]));
  if (target.rows === undefined || total === null || wanted === undefined || select.length < sources.length)
    return unknown;
  // Twice as many as are wanted, and some more: how many rows have a hash in the range is not exact.
  const parts = Math.max(1, Math.floor(total / (2 * size + 20)));
  const part = inShard({ index: 1, of: parts }, sources[0]![1]![0]!);
  const where = wanted.where === undefined ? part : `(${wanted.where}) and (${part})`;
  const rows = await target.rows.read(wanted.table, { select, where });
  return { rows: spread(rows, size), total };
}

/** At most `size` of the rows, from all parts. */
function spread<Row>(rows: readonly Row[], size: number): readonly Row[] {
  if (rows.length <= size) return rows;
  return Array.from({ length: size }, (_, index) => rows[Math.floor((index * rows.length) / size)]!);
}

/** `least`: how many seconds all calls take at least, because of a limit. */
async function sample(
  { folder = process.cwd(), clock = systemClock, signal, emit }: MigratorOptions,
  { action, commits }: PlannedAction,
  { column, how }: ComputedValues,
  { rows, total }: SampledRows,
  least: number,
): Promise<StepSample> {
  const { table } = action;
  const found = await sampleCode(how, computedColumn(commits)!, rows, { folder, clock, signal }, (done) =>
    emit?.({ event: "computed", table, path: column, rows: done }),
  );
  const { rowsPerSecond } = found;
  const duration = rowsPerSecond && Math.max(total / rowsPerSecond, least) * 1_000;
  return { ...found, total, duration };
}

/** Runs code of the project on some rows and keeps no value, to find out how fast it is and for which rows it fails. */
import { count } from "../../../errors/migrate-error.ts";
import { usual, type Computation } from "../../../actions/model/computation.ts";
import type { Column } from "../../../schema/data-type.ts";
import type { RowValues } from "../../../schema/row-values.ts";
import { openCode, type Code, type CodeContext } from "./call-code.ts";
import { computeAll, type RowResult, type Tally } from "./compute-all.ts";
import { codeFailed, FillFailed } from "../calls/fill-failed.ts";
import type { CodeSample } from "../../../run/computed.ts";

/** How many of the problems of rows are reported. */
const mostProblems = 3;

interface TimedCall {
  /** How many rows it computed; 0 if it failed. */
  rows: number;
  /** When it ended. */
  at: number;
}

export async function sampleCode(
  how: Computation,
  column: Column,
  rows: readonly RowValues[],
  context: CodeContext,
  progress: (done: number) => void,
): Promise<CodeSample> {
  const { clock } = context;
  const tally: Tally = { good: 0, bad: 0, badSources: 0 };
  const problems: string[] = [];
  const times: number[] = [];
  const calls: TimedCall[] = [];
  let failure: string | undefined;
  let code: Code | undefined;
  let begun = clock.steady();
  try {
    code = await openCode(how, { ...context, answered: (milliseconds) => times.push(milliseconds) });
    const { compute } = code;
    begun = clock.steady();
    await computeAll(rows, { ...how, failedRows: "leave" }, column, {
      tally,
      compute: async (given) => {
        const call: TimedCall = { rows: 0, at: Number.NaN };
        calls.push(call);
        try {
          const values = await compute(given);
          call.rows = given.length;
          return values;
        } finally {
          call.at = clock.steady();
        }
      },
      stage: async (results) => {
        problems.push(...results.flatMap((result) => problemOf(result, how.key)));
        progress(tally.good + tally.bad);
      },
    });
  } catch (error) {
    if (!(error instanceof FillFailed)) throw error;
    failure = error.message;
  } finally {
    await code?.close();
  }
  if (tally.bad > 0 && (how.failedRows ?? "stop") === "stop")
    failure ??= codeFailed(how.with, ` fails for ${tally.bad} of ${count(rows.length, "row")}; ${problems[0]}`).message;
  return {
    computed: tally.good,
    failed: tally.bad,
    problems: problems.slice(0, mostProblems),
    failure,
    calls: times.length,
    callTime: times.toSorted((one, other) => one - other)[Math.floor(times.length / 2)],
    ...rateOf(calls, begun, how.concurrency ?? usual.concurrency),
  };
}

function problemOf(result: RowResult, key: string): readonly string[] {
  return "problem" in result ? [`${key} ${JSON.stringify(result.row[key])}: ${result.problem}`] : [];
}

/** `calls`: in the order in which they began. */
export function rateOf(
  calls: readonly Readonly<TimedCall>[],
  begun: number,
  concurrency: number,
): Pick<CodeSample, "rowsPerSecond" | "isSteady"> {
  const end = (some: readonly TimedCall[]) => Math.max(begun, ...some.map(({ at }) => at));
  const started = end(calls.slice(0, concurrency));
  const later = calls.filter(({ at }) => at > started);
  const isSteady = later.length >= concurrency;
  const [counted, from] = isSteady ? [later, started] : [calls, begun];
  const rows = counted.reduce((sum, call) => sum + call.rows, 0);
  const milliseconds = end(calls) - from;
  return { rowsPerSecond: rows === 0 || milliseconds <= 0 ? undefined : (rows / milliseconds) * 1_000, isSteady };
}

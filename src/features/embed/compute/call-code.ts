/** Calls code of the project: a module or a command. Limits how often and for how long, and retries failed calls. */
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { firstLine } from "../../../errors/migrate-error.ts";
import type { FillColumnAction } from "../../../actions/model/action.ts";
import type { Computation } from "../../../actions/model/computation.ts";
import { evaluate, importProblem } from "../../../migrations/evaluate.ts";
import { isFloat, type Column } from "../../../schema/data-type.ts";
import { parsePath } from "../../../schema/path.ts";
import type { RowValues } from "../../../schema/row-values.ts";
import { requireColumn } from "../../../schema/table.ts";
import { pauseAfter, patience } from "../../../targets/contract/retry.ts";
import type { Clock } from "../../../time/clock.ts";
import type { Budget } from "../../../run/calls/budget.ts";
import { Spending, unknownCost, type PaidCall } from "../calls/spending.ts";
import { NoAnswer, type Answered, type Compute } from "./compute-all.ts";
import { codeFailed, LimitReached } from "../calls/fill-failed.ts";
import { Late, pauseBefore } from "./retry-after.ts";

export interface CodeContext {
  /** The base of the path of a module, and the working directory of a command. */
  readonly folder: string;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
  /** What the calls are taken from; without it, any number is made. */
  readonly budget?: Budget | undefined;
  /** Called with each line that a command prints besides its answers. */
  readonly printed?: ((line: string) => void) | undefined;
  /** Called after each call that succeeded, with how many milliseconds it took. */
  readonly answered?: ((milliseconds: number) => void) | undefined;
}

export interface Code {
  readonly compute: Compute;
  close(): Promise<void>;
}

type Raw = (rows: readonly RowValues[], signal: AbortSignal) => Promise<Answered>;

const usualSeconds = 60;

/** Throws FillFailed if the module can't be loaded. */
export async function openCode(computation: Computation, context: CodeContext): Promise<Code> {
  const { with: code } = computation;
  if (typeof code !== "string" && "sql" in code) throw new Error("the engine computes SQL");
  const { raw, close } =
    typeof code === "string"
      ? { raw: await importCode(code, computation, context), close: async () => {} }
      : (await import("./run-command.ts")).startCommand(code.command, context.folder, context.printed);
  return { compute: patiently(raw, computation, context), close };
}

/** In place of the code: computes vectors of which an index can be made, and nulls for other types. */
export function sampleCode({ table, path }: FillColumnAction, columns: readonly Column[]): Code {
  const { type } = requireColumn(table, columns, parsePath(path));
  let state = 1;
  const next = () => (state = (state * 48_271) % 0x7fff_ffff) / 0x7fff_ffff;
  const value = () =>
    type.kind === "fixedSizeList" && isFloat(type.item.type) ? Array.from({ length: type.length }, next) : null;
  return { compute: async (rows) => rows.map(value), close: async () => {} };
}

async function importCode(path: string, { pricePer1000Rows }: Computation, context: CodeContext): Promise<Raw> {
  const { folder, budget } = context;
  const url = pathToFileURL(resolve(folder, path)).href;
  let module: { readonly default?: unknown; readonly cost?: unknown };
  try {
    // Loading a model may take any time.
    module = (await evaluate(url, Infinity)) as typeof module;
  } catch (error) {
    throw codeFailed(path, `: ${importProblem(error, url)}`);
  }
  if (typeof module.default !== "function") throw codeFailed(path, ": its default export is no function");
  const code = module.default as (rows: readonly RowValues[], options: { signal: AbortSignal }) => unknown;
  const cost = module.cost as ((rows: readonly RowValues[], values: readonly unknown[]) => unknown) | undefined;
  if (cost !== undefined && typeof cost !== "function") throw codeFailed(path, ": its export cost is no function");
  if (budget?.limitsCost === true && cost === undefined && pricePer1000Rows === undefined)
    throw codeFailed(path, `: ${unknownCost}`);
  return async (rows, signal) => {
    const values = await code(rows, { signal });
    if (!Array.isArray(values)) throw new Error("it did not return an array");
    return { values, cost: cost && (() => cost(rows, values)) };
  };
}

function patiently(
  raw: Raw,
  { callSeconds = usualSeconds, callsPerMinute, with: code, ...price }: Computation,
  context: CodeContext,
): Compute {
  const { clock, signal, answered, budget } = context;
  const spending = budget && new Spending(budget, price);
  const pay = async (rows: number): Promise<PaidCall | undefined> => {
    const call = await spending?.begin(rows);
    if (call === undefined || "succeeded" in call) return call;
    if (call.limit !== undefined) throw new LimitReached(call.limit);
    throw codeFailed(code, `: ${call.problem}`);
  };
  const sleep = async (milliseconds: number) => {
    await clock.sleep(milliseconds, signal).catch(() => {});
    if (signal?.aborted === true) throw new NoAnswer("the run was interrupted");
  };
  const turn = callsPerMinute === undefined ? () => 0 : turns(60_000 / callsPerMinute, clock);
  return async (rows) => {
    for (let tries = 1; ; tries++) {
      const call = await pay(rows.length);
      try {
        await sleep(turn());
        const begun = clock.steady();
        const { values, cost = () => undefined } = await within(callSeconds, (ends) => raw(rows, ends), signal);
        answered?.(clock.steady() - begun);
        call?.succeeded(cost);
        return values;
      } catch (error) {
        call?.failed(error);
        const pause = pauseBefore(error);
        if (signal?.aborted === true) throw new NoAnswer("the run was interrupted");
        if (pause === undefined) throw error;
        if (tries === patience.code.tries) throw new NoAnswer(`${firstLine(error)} (${tries} tries)`);
        await sleep(Math.max(pause, pauseAfter(tries, patience.code) * (0.75 + clock.random() / 2)));
      }
    }
  };
}

/** How many milliseconds each call has to wait, so that they begin with that much time between them. */
function turns(milliseconds: number, clock: Clock): () => number {
  let next = 0;
  return () => {
    const now = clock.steady();
    const at = Math.max(now, next);
    next = at + milliseconds;
    return at - now;
  };
}

async function within<Result>(
  seconds: number,
  work: (signal: AbortSignal) => Promise<Result>,
  stop: AbortSignal | undefined,
): Promise<Result> {
  // Not `AbortSignal.any`: what it makes stays in memory as long as `stop`.
  const ends = new AbortController();
  const interrupt = () => ends.abort(stop!.reason);
  const timer = setTimeout(() => ends.abort(new Late(seconds)), seconds * 1_000);
  stop?.addEventListener("abort", interrupt);
  try {
    const ended = new Promise<never>((_, reject) =>
      ends.signal.addEventListener("abort", () => reject(ends.signal.reason as Error)),
    );
    if (stop?.aborted === true) interrupt();
    // Code that ignores the signal is not waited for.
    return await Promise.race([work(ends.signal), ended]);
  } finally {
    clearTimeout(timer);
    stop?.removeEventListener("abort", interrupt);
  }
}

/** The places of the calls that built steps. They are kept outside the steps, so that steps stay plain data. */

/** A call in a file. `line` and `column` are counted from 1. `file`: a URL or a path, as Node reports it. */
export interface CallSite {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

type Builder = (...args: never) => unknown;

// On the global object, because a migration file may load a second copy of this package.
const key = Symbol.for("lance-migrate.built");
const hooks = globalThis as { [key]?: ((step: object, builder: Builder) => void) | undefined };

const calls = new WeakMap<object, readonly CallSite[]>();

/** Returns the step that a builder has made, and records its calls if `recordCalls` is running. */
export function built<Step extends object>(step: Step, builder: Builder): Step {
  hooks[key]?.(step, builder);
  return step;
}

/** Records the calls of all builders until `work` has ended. */
export async function recordCalls<Result>(work: () => Promise<Result>): Promise<Result> {
  hooks[key] = (step, builder) => calls.set(step, callsAbove(builder));
  try {
    return await work();
  } finally {
    hooks[key] = undefined;
  }
}

/** The calls that led to a step, innermost first; empty if it was written by hand, or made outside `recordCalls`. */
export function callsOf(step: unknown): readonly CallSite[] {
  return typeof step === "object" && step !== null ? (calls.get(step) ?? []) : [];
}

/** Copies the recorded calls from the step that was built to the checked one, which is another object. */
export function copyCalls(built: unknown, step: object): void {
  const known = callsOf(built);
  if (known.length > 0) calls.set(step, known);
}

const deepest = 50;

function callsAbove(builder: Builder): readonly CallSite[] {
  const { prepareStackTrace, stackTraceLimit } = Error;
  const holder: { stack?: unknown } = {};
  try {
    Error.stackTraceLimit = deepest;
    Error.prepareStackTrace = (_, sites) =>
      sites.map((site): CallSite => {
        const [line, column] = [site.getLineNumber() ?? 1, site.getColumnNumber() ?? 1];
        return { file: site.getFileName() ?? "", line, column };
      });
    Error.captureStackTrace(holder, builder);
    // Node calls `prepareStackTrace` when the stack is first read.
    return holder.stack as readonly CallSite[];
  } finally {
    Object.assign(Error, { prepareStackTrace, stackTraceLimit });
  }
}

/** The interface of a command. */
import type { Emit } from "../../run/events.ts";
import { openSession, type Session } from "../../session/session.ts";
import type { CommandResult } from "./exit-code.ts";
import type { bundleFlags, commonFlags, FlagTable, FlagValues, leaseFlags } from "./flags.ts";
import type { Output } from "./output.ts";

export interface Command<Table extends FlagTable = FlagTable> {
  /** The command and its arguments in the notation of yargs: `new [name]`. */
  readonly usage: string;
  readonly describe: string;
  readonly flags: Table;
  /** Lists of flags of which the first can't be used with any of the others. */
  readonly conflicts?: readonly (readonly (keyof Table | "json")[])[];
  /** False for a command that takes no flags of the configuration. */
  readonly readsConfig?: false;
  /** What the command prints when it is asked to stop; "stopping" by default. */
  readonly stopping?: string;
  run(context: Context<FlagValues<Table>>): Promise<CommandResult>;
}

type CommonValues = FlagValues<typeof commonFlags & typeof leaseFlags & typeof bundleFlags>;

export interface Context<Values = Readonly<Record<string, unknown>>> {
  readonly flags: Values & CommonValues;
  /** The typed arguments, word by word. */
  readonly words: readonly string[];
  readonly output: Output;
  readonly signal: AbortSignal;
  /** Reports whether work is in progress that must reach its safe point. If not, the command may be ended anywhere. */
  readonly underWay: (something: boolean) => void;
}

/** Types flow from the flags into `run`, which is called only with values that they have accepted. */
export function defineCommand<Table extends FlagTable>(command: Command<Table>): Command {
  return command as unknown as Command;
}

/** Opens the configured target, runs `work` and closes the target. */
export async function withSession<Result>(
  { flags, signal }: Context,
  work: (session: Session) => Promise<Result>,
  emit?: Emit,
): Promise<Result> {
  const { target, config, bundle, "load-timeout": loadSeconds, wait: waitSeconds, lease: leaseSeconds } = flags;
  const session = await openSession({ target, config, bundle, loadSeconds, waitSeconds, leaseSeconds, signal, emit });
  try {
    return await work(session);
  } finally {
    await session.close();
  }
}

/** Runs `work` with the configured target. Returns its result and the target's name. */
export async function withTarget<Result>(
  context: Context,
  work: (options: Session["options"]) => Promise<Result>,
  emit?: Emit,
): Promise<readonly [result: Result, target: string]> {
  return await withSession(context, async ({ options }) => [await work(options), options.target.name], emit);
}

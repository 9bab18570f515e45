/** The interface of a command. */
import { Budget } from "../../run/calls/budget.ts";
import type { RunEvent } from "../../run/events.ts";
import { openSession, requireDatabase, type Session } from "../../session/session.ts";
import { allDatabases, type Additions, type AllDatabases, type CommandInput } from "./additions.ts";
import type { CommandResult, EndingName } from "./exit-code.ts";
import {
  commonFlags,
  configFlags,
  type budgetFlags,
  type bundleFlags,
  type contractFlags,
  type FlagTable,
  type FlagValues,
  type leaseFlags,
  type pythonFlag,
} from "./flags.ts";

export interface CommandDefinition<Table extends FlagTable = FlagTable> {
  readonly describe: string;
  /** What help shows: whole lines, and what they do. */
  readonly examples: readonly (readonly [line: string, meaning: string])[];
  /** What exit codes mean here, where that is more than they mean for every command. */
  readonly exits?: { readonly [Ending in EndingName]?: string };
  readonly flags: Table;
  /** Lists of flags of which the first can't be used with any of the others. */
  readonly conflicts?: readonly (readonly (keyof Table | "json" | "database")[])[];
  /** False for a command that takes no flags of the configuration. */
  readonly readsConfig?: false;
  /** What the command prints when it is asked to stop; "stopping" by default. */
  readonly stopping?: string;
  run(context: Context<FlagValues<Table>>): Promise<CommandResult>;
}

export interface Command extends CommandDefinition {
  readonly name: string;
}

type CommonValues = FlagValues<
  typeof commonFlags & typeof leaseFlags & typeof bundleFlags & typeof contractFlags & typeof pythonFlag
>;

export interface Context<Values = Readonly<Record<string, unknown>>> extends CommandInput {
  readonly flags: Values & CommonValues;
  /** The typed arguments, word by word. */
  readonly words: readonly string[];
  readonly features: readonly Additions[];
}

/** Receives the events of a run. */
export interface Events {
  (event: RunEvent): void;
  /** Called when the run has ended, in whatever way. */
  readonly end: () => void;
}

/** Types flow from the flags into `run`, which is called only with values that they have accepted. */
export function defineCommand<Table extends FlagTable>(command: CommandDefinition<Table>): CommandDefinition {
  return command as unknown as CommandDefinition;
}

/** All flags that the command takes. One that reads no configuration may have flags of the same names. */
export function flagsOf({ readsConfig, flags }: Command): FlagTable {
  const refused = readsConfig === false ? Object.keys(configFlags).filter((name) => !Object.hasOwn(flags, name)) : [];
  const all = Object.entries({ ...commonFlags, ...flags });
  return Object.fromEntries(all.filter(([name]) => !refused.includes(name)));
}

/** The command and its arguments, as help shows them: `new [name]`. */
export function usageOf({ name, flags }: Command): string {
  const labels = Object.entries(flags).flatMap(([argument, { kind, isNeeded, isList }]) => {
    const name = isList === true ? `${argument}..` : argument;
    return kind !== "positional" ? [] : isNeeded === true ? `<${name}>` : `[${name}]`;
  });
  return [name, ...labels].join(" ");
}

/** Opens the configured target, runs `work` and closes the target. Throws ERR_DATABASE_NEEDED. */
export function withSession<Result>(
  context: Context,
  work: (session: Session) => Promise<Result>,
  emit?: Events,
): Promise<Result> {
  const onOne = (session: Session) => {
    requireDatabase(session);
    return work(session);
  };
  return withAnySession(context, onOne, emit);
}

/** The same for work that touches no table, for which any of several targets will do. */
export function withAnyTarget<Result>(context: Context, work: (session: Session) => Promise<Result>): Promise<Result> {
  return withAnySession(context, work, undefined, true);
}

/** The same for work that needs no database, or all of them, if the target has several. */
export async function withAnySession<Result>(
  { flags, features, signal }: Context,
  work: (session: Session) => Promise<Result>,
  emit?: Events,
  anyTarget = false,
): Promise<Result> {
  const {
    target,
    database,
    config,
    bundle,
    contract: contracts,
    by,
    python,
    "load-timeout": loadSeconds,
    wait: waitSeconds,
    lease: leaseSeconds,
  } = flags;
  const seconds = { loadSeconds, waitSeconds, leaseSeconds };
  const wanted = { target, database, config, bundle, contracts, by, python, ...seconds, signal, emit };
  const session = await openSession(wanted, features, undefined, anyTarget);
  try {
    return await work(session);
  } finally {
    emit?.end();
    await session.close();
  }
}

/** The same: runs `onOne`, or `onAll` if the target has several databases and none was chosen. */
export function withDatabases(
  context: Context,
  onOne: (session: Session) => Promise<CommandResult>,
  onAll: (databases: AllDatabases) => Promise<CommandResult>,
  emit?: Events,
): Promise<CommandResult> {
  return withAnySession(
    context,
    async (session) => {
      const databases = await allDatabases(context, session);
      if (databases !== undefined) return await onAll(databases);
      requireDatabase(session);
      return await onOne(session);
    },
    emit,
  );
}

/** The limits of all that the command runs, also if that is on several databases. */
export function budgetOf(flags: FlagValues<typeof budgetFlags>): Budget | undefined {
  const { "max-calls": maxCalls, "max-cost": maxCost } = flags;
  return maxCalls === undefined && maxCost === undefined ? undefined : new Budget({ maxCalls, maxCost });
}

/** Runs `work` with the configured target. Returns its result and the target's name. */
export async function withTarget<Result>(
  context: Context,
  work: (options: Session["options"]) => Promise<Result>,
  emit?: Events,
): Promise<readonly [result: Result, target: string]> {
  return await withSession(context, async ({ options }) => [await work(options), options.target.name], emit);
}

/** What features add to the commands of others, which get it in their context. */
import type { UpChoice } from "../../commands/up.ts";
import type { ErrorCode } from "../../errors/migrate-error.ts";
import type { Budget } from "../../run/calls/budget.ts";
import type { MigratorOptions } from "../../run/run-context.ts";
import type { SchemaRevision } from "../../run/schema-history.ts";
import type { Session } from "../../session/session.ts";
import type { SessionFeature } from "../../session/session-feature.ts";
import type { CommandResult } from "./exit-code.ts";
import type { Output } from "./output.ts";

/** What a command was given. */
export interface CommandInput {
  readonly flags: Readonly<Record<string, unknown>>;
  readonly output: Output;
  readonly signal: AbortSignal;
  /** Reports whether work is in progress that must reach its safe point. If not, the command may be ended anywhere. */
  readonly underWay: (something: boolean) => void;
}

export interface Additions extends SessionFeature {
  readonly derived?: () => Promise<DerivedFiles>;
  /** Called when `plan` or `up` has found pending migrations. */
  readonly pending?: (session: Session, output: Output) => Promise<void>;
  /** Undefined if the session has one database. Throws ERR_USAGE for a flag that is for several. */
  readonly databases?: (session: Session, input: CommandInput) => Promise<AllDatabases | undefined>;
  /** Called before the process of a command ends. Throws nothing. */
  readonly ending?: (output: Output) => Promise<void>;
}

/** Files that follow from the migrations, such as those of `migrate types`. */
export interface DerivedFiles {
  /** Updates the existing files, or just that of the history, and gives those that were written. */
  update(session: Session, revisions: Revisions, output: Output, which?: "history"): Promise<readonly string[]>;
  /** The history file, with which migrations are type-checked, if there is one. */
  history(session: Session): string | undefined;
  /** The oldest file of the application, and the revisions up to the one that it describes. */
  described(session: Session, revisions: readonly SchemaRevision[]): Described | undefined;
}

/** Commands on all databases of a target that has several. Each throws ERR_INTERRUPTED. */
export interface AllDatabases {
  up(choice: UpChoice, budget: Budget | undefined): Promise<CommandResult>;
  status(): Promise<CommandResult>;
  /** Reads each of them. `finish` prints which could not be read, and returns how the command ends. */
  read<Result>(
    work: (options: MigratorOptions) => Promise<Result>,
    see: (one: ReadDatabase<Result>) => void,
  ): Promise<{ readonly names: readonly string[]; readonly finish: () => CommandResult }>;
}

/** `duration`: milliseconds. */
export type ReadDatabase<Result> = { readonly name: string; readonly duration: number } & (
  | { readonly result: Result }
  | { readonly error: { readonly code: ErrorCode | "ERR_INTERNAL"; readonly message: string } }
);

/** The schema after each migration; throws what keeps the migrations from working. */
export type Revisions = () => Promise<readonly SchemaRevision[]>;

export interface Described {
  readonly path: string;
  readonly revisions: readonly SchemaRevision[];
}

/** Without a feature that has such files, there are none. */
export async function derivedFiles(all: readonly Additions[]): Promise<DerivedFiles> {
  const none: DerivedFiles = { update: async () => [], history: () => undefined, described: () => undefined };
  return (await all.find(({ derived }) => derived !== undefined)?.derived?.()) ?? none;
}

/** Undefined if the session has one database, or if no feature works on several. */
export async function allDatabases(
  { features, ...input }: CommandInput & { readonly features: readonly Additions[] },
  session: Session,
): Promise<AllDatabases | undefined> {
  return await features.find(({ databases }) => databases !== undefined)?.databases?.(session, input);
}

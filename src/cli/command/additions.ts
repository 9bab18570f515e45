/** What features add to the commands of others, which get it in their context. */
import type { SchemaRevision } from "../../run/schema-history.ts";
import type { Session } from "../../session/session.ts";
import type { SessionFeature } from "../../session/session-feature.ts";
import type { Output } from "./output.ts";

export interface Additions extends SessionFeature {
  readonly derived?: () => Promise<DerivedFiles>;
  /** Called when `plan` or `up` has found pending migrations. */
  readonly pending?: (session: Session, output: Output) => Promise<void>;
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

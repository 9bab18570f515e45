/** Writes the next migration, checked after the existing ones. */
import { acceptances, type Acceptance } from "../../../migrations/acceptance.ts";
import { formatVersion } from "../../../migrations/file-name.ts";
import { revisionOf } from "../../shared/check-migrations/plan-what-works.ts";
import { problemsElsewhere } from "../../../plan/problems-elsewhere.ts";
import { checkConsent, checkOnce, planNext, stepsBack } from "../generate/next-migration.ts";
import { schemaRevisions } from "../../../run/schema-history.ts";
import { nextMigration, writeMigration } from "./create-migration.ts";
import { fileKind } from "../../shared/file-kind.ts";
import { authoring } from "../../shared/authoring.ts";
import { otherTargets } from "../../../session/open-target.ts";
import type { Session } from "../../../session/session.ts";
import type { Step } from "../../../steps/registry.ts";
import { derivedFiles, type Revisions } from "../../../cli/command/additions.ts";
import type { Context } from "../../../cli/command/command.ts";
import type { Output } from "../../../cli/command/output.ts";
import { firstLine, problemIn } from "../../../errors/migrate-error.ts";
import type { PlannedMigration } from "../../../plan/make-plan.ts";
import type { MigratorOptions } from "../../../run/run-context.ts";
import { lockName } from "../../../migrations/schema-lock.ts";
import { writeLockOf } from "../../shared/lock-file.ts";

export interface Next {
  readonly name: string;
  /** Empty if the template is written as it is. */
  readonly steps: readonly Step[];
  readonly down?: boolean | undefined;
  readonly accept?: readonly Acceptance[] | undefined;
  /** Whether the user has agreed to all that the steps lose. */
  readonly confirmed?: boolean | undefined;
  /** What the user should know about the steps: printed, and written into the file. */
  readonly notes?: readonly string[] | undefined;
}

/** The paths of what was written. */
export interface WrittenMigration {
  readonly file: string;
  /** `lock.json`; undefined if it could not be written. */
  readonly lock: string | undefined;
  /** The files of `migrate types` that were out of date. */
  readonly types: readonly string[];
}

export type Writing = ReturnType<typeof writingNext>;

/** Checks and writes the next migration. */
export function writingNext(
  session: Session,
  { output, features, underWay }: Pick<Context, "output" | "features" | "underWay">,
) {
  const options = authoring(session);
  const kind = fileKind(session.config);
  const place = (name: string) => nextMigration(session.folder, name, kind);
  const checked = checkOnce(options);
  return {
    /** Whether the existing migrations work, and the tables after them. */
    checked,
    /** Throws ERR_NAME_INVALID. */
    checkName: (name: string): void => void place(name),
    /** Throws what is wrong with these steps. */
    checkSteps: async (name: string, steps: readonly Step[]): Promise<void> =>
      void planNext(await checked(), options, place(name), steps),
    async write({
      name: given,
      steps,
      down,
      accept: asked,
      confirmed = false,
      notes = [],
    }: Next): Promise<WrittenMigration> {
      const { name } = place(given);
      const existing = steps.length === 0 ? undefined : await checked();
      const planned = existing && planNext(existing, options, place(name), steps);
      if (planned !== undefined && asked !== undefined) checkConsent(planned, options, asked, down === true);
      const accept = asked ?? (confirmed && planned ? consentFor(planned, options, down === true) : undefined);
      const back = down === true && planned !== undefined ? stepsBack(planned, options) : undefined;
      underWay(true);
      const before = existing?.sound.migrations.map(revisionOf);
      const derived = await derivedFiles(features);
      // TypeScript checks the steps against the history file, so that must be up to date.
      const early = before === undefined ? [] : await derived.update(session, async () => before, output, "history");
      const history = derived.history(session);
      const { path, last } = place(name);
      // With the history file, TypeScript checks what is in after(…).
      const after = history === undefined ? undefined : formatVersion(last);
      const wanted = { project: session.config, name, notes, accepts: accept, history, after };
      const file = await writeMigration(path, { ...wanted, ...(planned && { steps, down: back?.steps }) });
      for (const words of notes) output.progress(`note: ${words}`);
      if (back?.isChecked === true)
        output.progress(
          "note: migrate down does not look for rows that block a written down: it loses rows and values that were written since; without a written down, migrate down checks that",
        );
      const others = planned === undefined ? [] : await otherTargets(session.config, session.target);
      for (const one of planned?.actions ?? [])
        for (const words of problemsElsewhere(one, others)) output.progress(`note: step ${one.place.step}: ${words}`);
      for (const { place: at, risks } of planned?.actions ?? [])
        for (const { kind, text } of risks)
          if (kind === "loss" && accept === undefined)
            output.progress(`note: step ${at.step} loses something: ${text}`);
      const isNext = before !== undefined && planned?.migration.path === path;
      let known: ReturnType<Revisions> | undefined;
      const revisions = () =>
        (known ??= isNext ? Promise.resolve([...before, revisionOf(planned)]) : schemaRevisions(options));
      const lock = await updateLock(session, revisions, output);
      const late = await derived.update(session, revisions, output);
      return { file, lock, types: [...new Set([...early, ...late])] };
    },
  };
}

/** The consent that `up` needs; undefined if it refuses the steps for another reason. */
function consentFor(planned: PlannedMigration, options: MigratorOptions, hasDown: boolean) {
  return acceptances
    .map((one) => [one] as const)
    .find((one) => problemIn(() => checkConsent(planned, options, one, hasDown)) === undefined);
}

/** Updates the lock file after a migration was written, and gives its path; undefined if that failed. */
async function updateLock(session: Session, revisions: Revisions, output: Output): Promise<string | undefined> {
  try {
    return writeLockOf(session, await revisions());
  } catch (error) {
    // A failure is only a note, because the migration that was asked for is written.
    output.progress(`note: ${lockName} is not written: ${firstLine(error)}`);
    return undefined;
  }
}

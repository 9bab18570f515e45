/** What is left to do after `migrate init`, in the words of the project's package manager. */
import { installCommand } from "../../../engine/package/installed-packages.ts";
import type { InitChoice } from "./files.ts";
import type { MissingPackages } from "./missing-packages.ts";
import type { ProjectSurvey } from "./survey.ts";

/** A command to type, and what it does. */
export interface NextCommand {
  readonly command: string;
  readonly does: string;
}

export function nextCommands(
  { manager, hasMigrations }: ProjectSurvey,
  first: InitChoice["first"],
  { packages, isBlocked }: MissingPackages,
  hasWritten: boolean,
): readonly NextCommand[] {
  const { run } = manager;
  const does = "installs what is missing";
  const install = packages.length === 0 ? [] : [{ command: installCommand(packages), does }];
  return [...install, ...(isBlocked ? [{ command: `${run} init`, does: "writes the first migration" }] : after())];

  function after(): readonly NextCommand[] {
    if (first === "pull")
      return [{ command: `${run} baseline`, does: "marks the migration as applied on these tables" }];
    if (hasMigrations && !hasWritten)
      return [{ command: `${run} status`, does: "lists applied and pending migrations" }];
    if (first !== undefined || hasMigrations)
      return [
        { command: `${run} plan`, does: "shows what up will do" },
        { command: `${run} up`, does: "applies the migrations" },
      ];
    return [
      { command: `${run} doctor`, does: "tests what the target supports" },
      { command: `${run} pull`, does: "writes the first migration from existing tables" },
      { command: `${run} new create_documents`, does: "writes a migration without steps" },
    ];
  }
}

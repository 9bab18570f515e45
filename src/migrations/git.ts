/** What git knows of the migrations folder. */
import { execFileSync } from "node:child_process";
import { firstLine, MigrateError } from "../errors.ts";

/** The branch that migrations come in from: the remote's own, or a local one of the usual names. Throws ERR_BRANCH. */
export function mainBranch(folder: string): string {
  const remote = ask(folder, ["symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD"]);
  const candidates = [...(remote === undefined ? [] : [remote]), "origin/main", "origin/master", "main", "master"];
  const found = candidates.find((ref) => exists(folder, ref));
  if (found !== undefined) return found;
  throw new MigrateError("ERR_BRANCH", {
    problem: "there is no branch main or master here; name the other side with --onto",
  });
}

/** The names of the files that the folder has there. Throws ERR_BRANCH. */
export function filesAt(folder: string, ref: string): ReadonlySet<string> {
  if (!exists(folder, ref)) throw new MigrateError("ERR_BRANCH", { problem: `git knows no ${ref} here` });
  return new Set((ask(folder, ["ls-tree", "-z", "--name-only", ref]) ?? "").split("\0").filter((name) => name !== ""));
}

/** The names that the folder had where the two sides parted; none where they have nothing in common. */
export function filesAtFork(folder: string, ref: string): ReadonlySet<string> {
  const fork = ask(folder, ["merge-base", "HEAD", ref]);
  return fork === undefined ? new Set() : filesAt(folder, fork);
}

function exists(folder: string, ref: string): boolean {
  return ask(folder, ["rev-parse", "--quiet", "--verify", "--end-of-options", `${ref}^{commit}`]) !== undefined;
}

/** Undefined where git says no. Throws ERR_BRANCH without git. */
function ask(folder: string, args: readonly string[]): string | undefined {
  try {
    return execFileSync("git", args, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === undefined) return undefined;
    throw new MigrateError("ERR_BRANCH", { problem: `git can't be run: ${firstLine(cause)}` }, { cause });
  }
}

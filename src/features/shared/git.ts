/** Asks git about the migrations folder. */
import { execFileSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { firstLine, MigrateError } from "../../errors/migrate-error.ts";

/**
 * The side that the incoming migrations are on. In a merge it is `HEAD` if the current branch is the main branch, else
 * `MERGE_HEAD`. Otherwise it is the remote's main branch, or the local one if that contains it. Throws ERR_BRANCH.
 */
export function otherSide(folder: string): string {
  const main = mainBranch(folder);
  if (!exists(folder, "MERGE_HEAD")) return main ?? missing("there is no branch main or master here");
  const own = ask(folder, ["symbolic-ref", "--quiet", "--short", "HEAD"]);
  return own !== undefined && main !== undefined && isSame(main, own) ? "HEAD" : "MERGE_HEAD";
}

function mainBranch(folder: string): string | undefined {
  const remote = ask(folder, ["symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD"]);
  const found = [remote, "origin/main", "origin/master", "main", "master"].find(
    (ref) => ref !== undefined && exists(folder, ref),
  );
  const local = found?.replace(/^origin\//, "");
  const isAhead =
    local !== found &&
    exists(folder, local!) &&
    ask(folder, ["merge-base", "--is-ancestor", found!, local!]) !== undefined;
  return isAhead ? local : found;
}

function isSame(main: string, own: string): boolean {
  return main === own || main === `origin/${own}`;
}

function missing(problem: string): never {
  throw new MigrateError("ERR_BRANCH", { problem: `${problem}; name the other side with --onto` });
}

/** The files of the folder at `ref`, each with the git hash of its text. Throws ERR_BRANCH. */
export function filesAt(folder: string, ref: string): ReadonlyMap<string, string> {
  if (!exists(folder, ref))
    throw new MigrateError("ERR_BRANCH", { problem: `git knows no ${ref} here; check its name, or fetch it` });
  const lines = (ask(folder, ["ls-tree", "-z", ref]) ?? "").split("\0").filter((line) => line !== "");
  return new Map(
    lines.map((line) => {
      const [about = "", name = ""] = line.split("\t");
      return [name, about.split(" ").at(-1)!] as const;
    }),
  );
}

/** The current files of these names, each with the git hash of its text; empty for a missing file. */
export function textsOf(folder: string, names: readonly string[]): ReadonlyMap<string, string> {
  const isFile = (name: string) => statSync(join(folder, name), { throwIfNoEntry: false })?.isFile() === true;
  const there = names.filter((name) => !name.includes("\n") && isFile(name));
  // One call for all. It takes the paths from the top of the repository, if they are not whole.
  const paths = there.map((name) => join(folder, name)).join("\n");
  const hashes = ask(folder, ["hash-object", "--stdin-paths"], paths)?.split("\n") ?? [];
  return new Map(names.map((name) => [name, hashes[there.indexOf(name)] ?? ""] as const));
}

/** The files of the folder at the commit where the sides parted; none if they share no commit. Throws ERR_BRANCH. */
export function filesAtFork(folder: string, ref: string): ReadonlyMap<string, string> {
  const fork = ask(folder, ["merge-base", "HEAD", ref]);
  if (fork !== undefined) return filesAt(folder, fork);
  if (ask(folder, ["rev-parse", "--is-shallow-repository"]) === "true")
    throw new MigrateError("ERR_BRANCH", {
      problem: `this clone does not go back to where ${ref} parted from it; git fetch --unshallow gets the rest`,
    });
  return new Map();
}

/**
 * Throws ERR_MIGRATIONS_FOLDER if the folder is missing, ERR_BRANCH if it is in no repository. `instead`: what to do without
 * one.
 */
export function checkRepository(folder: string, instead: string): void {
  if (!existsSync(folder)) throw new MigrateError("ERR_MIGRATIONS_FOLDER", { folder, problem: "is not there" });
  if (ask(folder, ["rev-parse", "--git-dir"]) === undefined)
    throw new MigrateError("ERR_BRANCH", {
      problem: `${folder} is in no git repository, which shows what is new; ${instead}`,
    });
}

function exists(folder: string, ref: string): boolean {
  return ask(folder, ["rev-parse", "--quiet", "--verify", "--end-of-options", `${ref}^{commit}`]) !== undefined;
}

/** The trimmed output of git; undefined if git fails. Throws ERR_BRANCH if git can't be run. */
function ask(folder: string, args: readonly string[], input = ""): string | undefined {
  try {
    const stdio = ["pipe", "pipe", "ignore"] as const;
    return execFileSync("git", args, {
      cwd: folder,
      encoding: "utf8",
      input,
      stdio: [...stdio],
      maxBuffer: 2 ** 26,
    }).trim();
  } catch (cause) {
    if (typeof (cause as { status?: unknown }).status === "number") return undefined;
    throw new MigrateError("ERR_BRANCH", { problem: `git can't be run: ${firstLine(cause)}; install it` }, { cause });
  }
}

/** What is wrong with the code of the project that an action runs, as far as that shows without running it. */
import { existsSync } from "node:fs";
import { delimiter, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { codeIn } from "../../actions/apply-action.ts";
import { linkProblem, meantFile } from "../../migrations/evaluate.ts";
import type { PlannedAction } from "../../plan/make-plan.ts";

/** The code as its step names it: the path of a module, or the program of a command. */
export function codesOf({ action, commits }: PlannedAction): readonly Code[] {
  const codes = commits.flatMap((commit) => codeIn(commit.action)?.with ?? []);
  const queries = action.kind === "prepareColumn" && action.evaluate !== undefined ? [action.evaluate.file] : [];
  return [...codes.filter((code) => typeof code === "string" || "command" in code), ...queries];
}

type Code = string | { readonly command: readonly string[] };

export interface CodeProblem {
  readonly text: string;
  /** Whether what is missing here may be on another machine, or may have been there when the migration was applied. */
  readonly isOnlyHere: boolean;
}

/** Undefined if nothing is known to be wrong. `folder`: the base of relative paths. */
export async function codeProblem(code: Code, folder: string): Promise<CodeProblem | undefined> {
  return typeof code === "string" ? await moduleProblem(code, folder) : programProblem(code.command[0]!, folder);
}

async function moduleProblem(name: string, folder: string): Promise<CodeProblem | undefined> {
  const path = resolve(folder, name);
  if (existsSync(path)) {
    const problem = await linkProblem(pathToFileURL(path).href);
    if (problem === undefined) return undefined;
    return { text: `${name}: ${problem}`, isOnlyHere: problem.startsWith("Cannot find package") };
  }
  const meant = meantFile(path);
  const text = `there is no file ${name}`;
  return meant === undefined
    ? { text, isOnlyHere: true }
    : { text: `${text}; the file there is ${meant}`, isOnlyHere: false };
}

function programProblem(name: string, folder: string): CodeProblem | undefined {
  // Windows also looks for names with other extensions, and in other places.
  if (process.platform === "win32") return undefined;
  const folders = name.includes("/") ? [folder] : (process.env["PATH"] ?? "").split(delimiter);
  return folders.some((one) => existsSync(resolve(one, name)))
    ? undefined
    : { text: `there is no program ${name}`, isOnlyHere: true };
}

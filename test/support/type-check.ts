/** The project's own TypeScript as a process, on a folder of files. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { root } from "./project.ts";

export interface TypeProblem {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly text: string;
}

/** A configuration under which what we write must be right. */
export const strictConfig = JSON.stringify({
  compilerOptions: {
    target: "es2023",
    lib: ["es2023", "esnext.disposable"],
    module: "nodenext",
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noUnusedLocals: true,
    verbatimModuleSyntax: true,
    declaration: true,
    skipLibCheck: true,
    noEmit: true,
    types: [],
  },
  include: ["**/*.ts"],
});

/** Threads of the compiler check the same types each for itself: one takes half the processor time of several. */
export const oneThread = "--singleThreaded";

/** All problems, in the order of the files. */
export function typeProblems(folder: string, more: readonly string[] = []): readonly TypeProblem[] {
  const { stdout, stderr, status } = spawnSync(
    join(root, "node_modules/.bin/tsc"),
    ["-p", ".", "--pretty", "false", oneThread, ...more],
    { cwd: folder, encoding: "utf8" },
  );
  const lines = stdout.split("\n").filter((line) => /^\S/.test(line));
  if (lines.length === 0 && status !== 0) throw new Error(stderr);
  return lines.map((line) => {
    const [, file, at, column, text] = /^(.*?)\((\d+),(\d+)\): error (.*)$/.exec(line) ?? [];
    if (text === undefined) throw new Error(line);
    return { file: file!, line: Number(at), column: Number(column), text };
  });
}

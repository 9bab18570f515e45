/** Type-checks a generated file, with the TypeScript of ts-morph. */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Project as Morph, ts as TypeScript } from "ts-morph";
import { ownModule } from "../../../engine/package/own-module.ts";
import { Project, ts } from "./ts-morph.ts";

/** The first TypeScript error in the file, with its line; undefined if there is none. */
export function typeProblem(path: string, text: string, folder: string, history?: string): string | undefined {
  const checker = checkerWith(configOf(dirname(path), folder));
  const { project } = checker;
  if (history !== undefined) project.addSourceFileAtPath(history);
  const source = project.createSourceFile(path, text, { overwrite: true });
  const program = project.getProgram();
  try {
    const [first] = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
    if (first === undefined) return undefined;
    const { messageText } = first.compilerObject;
    return `${ts.flattenDiagnosticMessageText(messageText, " ")} (line ${first.getLineNumber()})`;
  } finally {
    forgetOwn(checker, program.compilerObject);
  }
}

interface Checker {
  readonly project: Morph;
  readonly config: string;
  /** The files of packages that have been read. */
  readonly installed: Set<string>;
}

let last: Checker | undefined;

/** Most of what a check costs is to read the types of packages, so the next one with the same configuration uses them again. */
function checkerWith(given: ReturnType<typeof configOf>): Checker {
  const project = new Project({ ...given, skipAddingFilesFromTsConfig: true });
  const config = JSON.stringify(project.getCompilerOptions());
  if (last?.config !== config) last = { project, config, installed: new Set() };
  return last;
}

/** Forgets the project's own files, which may be others at the next check. */
function forgetOwn({ project, installed }: Checker, program: TypeScript.Program): void {
  for (const file of program.getSourceFiles()) {
    const { fileName } = file;
    // In the next program they are files like any other.
    if (program.isSourceFileFromExternalLibrary(file) || program.isSourceFileDefaultLibrary(file))
      installed.add(fileName);
    if (!installed.has(fileName)) project.getSourceFile(fileName)?.forget();
  }
}

/** The nearest tsconfig.json of the project; without one, options for what Node can run. */
function configOf(from: string, top: string) {
  for (let at = from; ; at = dirname(at)) {
    const file = join(at, "tsconfig.json");
    if (existsSync(file)) return { tsConfigFilePath: file };
    if (at === top || at === dirname(at)) break;
  }
  return {
    compilerOptions: {
      target: ts.ScriptTarget.ESNext,
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      strict: true,
      skipLibCheck: true,
      noEmit: true,
      allowImportingTsExtensions: true,
      ...typesOfNode(),
      // Without those of browsers, which take a fifth of the time.
      lib: ["lib.esnext.d.ts"],
    },
  };
}

/** The types of Node that the engine's package brings: a project without a tsconfig.json need not have its own. */
function typesOfNode(): Pick<TypeScript.CompilerOptions, "types" | "typeRoots"> {
  try {
    const node = createRequire(ownModule).resolve("@types/node/package.json");
    return { types: ["node"], typeRoots: [dirname(dirname(node))] };
  } catch {
    return { types: [] };
  }
}

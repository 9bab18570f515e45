/** Reads the contracts of the releases that run. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { fileReason, MigrateError } from "../errors/migrate-error.ts";
import { parseContract, type Contract } from "../plan/assess/contract/contract.ts";

/** `paths`: of files, and of folders of which all .json files are read. Throws ERR_CONTRACT_INVALID. */
export function readContracts(paths: readonly string[]): readonly Contract[] {
  const files = [...new Set(paths.flatMap(filesAt))];
  return files.map((path) => parseContract(jsonAt(path), shown(path)));
}

/** A folder that is missing is refused too: a misspelled one would protect nothing. */
function filesAt(path: string): readonly string[] {
  return attempt(path, () => statSync(path).isDirectory()) ? filesIn(path) : [path];
}

/** Links are followed. Hidden names are left out: Kubernetes keeps the targets of its links under them. */
function filesIn(folder: string): readonly string[] {
  const names = attempt(folder, () => readdirSync(folder)).filter((name) => !name.startsWith("."));
  return names.toSorted().flatMap((name) => {
    const path = join(folder, name);
    if (attempt(path, () => statSync(path).isDirectory())) return filesIn(path);
    return name.endsWith(".json") ? [path] : [];
  });
}

/** Throws ERR_CONTRACT_INVALID. */
export function jsonAt(path: string): unknown {
  const text = attempt(path, () => readFileSync(path, "utf8"));
  try {
    return JSON.parse(text.replace(/^\uFEFF/, "")) as unknown;
  } catch {
    throw new MigrateError("ERR_CONTRACT_INVALID", { file: shown(path), problem: "is not JSON" });
  }
}

function attempt<Result>(path: string, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    throw new MigrateError("ERR_CONTRACT_INVALID", {
      file: shown(path),
      problem: `can't be read: ${fileReason(error)}`,
    });
  }
}

function shown(path: string): string {
  return relative(process.cwd(), path) || path;
}

/** Reads the contracts of the releases that run. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { fileReason, MigrateError } from "../errors/migrate-error.ts";
import { parseContract, type Contract } from "../plan/assess/contract/contract.ts";

/** `paths`: of files, and of folders of which all .json files are read. Throws ERR_CONTRACT_INVALID. */
export function readContracts(paths: readonly string[]): readonly Contract[] {
  const files = [...new Set(paths.flatMap(filesAt))];
  return files.map((path) => parseContract(jsonAt(path), shown(path)));
}

/** A folder that is missing is refused too: a misspelled one would protect nothing. */
function filesAt(path: string): readonly string[] {
  const found = attempt(path, () =>
    statSync(path).isDirectory() ? readdirSync(path, { recursive: true, encoding: "utf8" }) : undefined,
  );
  if (found === undefined) return [resolve(path)];
  return found
    .filter((name) => name.endsWith(".json"))
    .toSorted()
    .map((name) => join(resolve(path), name));
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

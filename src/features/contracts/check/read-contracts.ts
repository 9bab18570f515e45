/** Reads the contracts of the releases that run. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { withoutMark } from "../../../checks/byte-order-mark.ts";
import { fileReason, MigrateError } from "../../../errors/migrate-error.ts";
import type { FoundContracts } from "./check-contracts.ts";
import { parseContract } from "./contract.ts";

/** Where contracts are: a file, or a folder of which all .json files are read. */
export interface ContractPlace {
  readonly path: string;
  /** The target whose setting names it; undefined if it was given for this run. */
  readonly target: string | undefined;
}

/** Throws ERR_CONTRACT_INVALID, ERR_CONTRACT_MISSING. */
export function readContracts(places: readonly ContractPlace[]): FoundContracts {
  const found = places.map((place) => ({ place, files: filesAt(place) }));
  const files = [...new Set(found.flatMap((one) => one.files))];
  return {
    contracts: files.map((path) => parseContract(jsonAt(path), shown(path))),
    empty: found.filter((one) => one.files.length === 0).map(({ place }) => shown(place.path)),
  };
}

/** A place that is missing is refused: a misspelled one would protect nothing. */
function filesAt({ path, target }: ContractPlace): readonly string[] {
  const found = attempt(path, () => statSync(path, { throwIfNoEntry: false }));
  if (found === undefined) throw new MigrateError("ERR_CONTRACT_MISSING", { path: shown(path), target });
  return found.isDirectory() ? filesIn(path) : [path];
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
    return JSON.parse(withoutMark(text)) as unknown;
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

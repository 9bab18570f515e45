/** What the ledger states about deferred indexes that could not be built, although there were enough vectors. Pure. */
import { partsOfDeferral } from "../../ledger/state/record.ts";
import { indexWords, type Deferral } from "../deferral-text.ts";

export interface FailedBuild extends Pick<Deferral, "index" | "table"> {
  /** The version of the table for which the engine has refused the index; undefined if it may accept it now. */
  readonly version: number | undefined;
  readonly problem: string;
}

const mostCharacters = 300;

export function failureWords({ version, problem, ...index }: FailedBuild): string {
  const at = version === undefined ? "" : versionWords(version);
  // Records that are about no migration repeat it.
  const [line = ""] = problem.split("\n");
  return `${indexWords(index)}${at}: ${line.replaceAll(";", ",").slice(0, mostCharacters)}`;
}

/** `detail`: that of the newest record that names deferred indexes. */
export function failedBuild(index: Pick<Deferral, "index" | "table">, detail = ""): FailedBuild | undefined {
  const words = indexWords(index);
  for (const failure of partsOfDeferral(detail).failures) {
    if (!failure.startsWith(words)) continue;
    const [about = "", ...rest] = failure.slice(words.length).split(": ");
    const version = Number(about.slice(versionWords("").length - 1, -1));
    if (about === "" || about === versionWords(version))
      return { ...index, version: about === "" ? undefined : version, problem: rest.join(": ") };
  }
  return undefined;
}

function versionWords(version: number | ""): string {
  return ` (version ${version})`;
}

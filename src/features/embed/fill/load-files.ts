/**
 * Loads results, or values of SQL, into a column that has no values yet, with files of the column alone: one for each
 * fragment, so that no row moves and nothing else of the table is written. The client for Node can't commit files, so a
 * script in Python does it.
 */
import { isError } from "../../../checks/realm.ts";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { count, fileReason, firstLine } from "../../../errors/migrate-error.ts";
import { withoutModel } from "../../../actions/rewrite/prepared-columns.ts";
import { isFloat, isInteger, type Column } from "../../../schema/data-type.ts";
import type { TableFiles } from "../../../targets/contract/row-access.ts";
import type { Target } from "../../../targets/contract/target.ts";
import { lastLine, parseMessage, runScript, scriptIn } from "../python/run-script.ts";

export type FileLoad = ResultLoad | SqlLoad;

interface Load {
  /** The program that has the package pylance. */
  readonly python: string;
  readonly table: TableFiles;
  /** The column of marks, which is loaded. */
  readonly mark: string;
}

/** Loads marks alone. */
export interface SqlLoad extends Load {
  /** An expression for them. */
  readonly sql: string;
  readonly results: readonly [];
}

export interface ResultLoad extends Load {
  readonly results: readonly TableFiles[];
  /** The column that is loaded too, and the one that identifies rows. */
  readonly column: string;
  readonly key: string;
  /** An SQL expression for what the mark of a row is now, and a regular expression for what a mark has besides. */
  readonly source: string;
  readonly plain: string;
  /** An SQL predicate for the rows that are computed; all when absent. */
  readonly where?: string | undefined;
  /** Into how many tasks of Ray the fragments are divided; without Ray when absent. */
  readonly workers?: number | undefined;
}

export interface LoadedFiles {
  readonly rows: number;
  /** How many versions of the table were made: one for each fragment. */
  readonly commits: number;
  /** Why results are left that could be of use; undefined if there are none. */
  readonly problem: string | undefined;
}

interface LoaderMessage {
  readonly ask: string;
  readonly loaded: number;
  readonly left: number;
  readonly problem: string | null;
  readonly missing: string;
  readonly printed: string;
  readonly version: string;
}

/** Whether a column of this type is one column of a file. Fields in it would have numbers of their own. */
export function isLoadable({ type, metadata }: Column): boolean {
  const item = type.kind === "fixedSizeList" ? type.item.type : type;
  return (
    (isFloat(item) || isInteger(item) || type.kind === "bool" || type.kind === "utf8") &&
    withoutModel(metadata) === undefined
  );
}

export interface LoadWatch {
  /** Called with each line for the user. */
  readonly printed?: ((line: string) => void) | undefined;
  /** Called with how many rows are loaded so far. */
  readonly loaded?: ((rows: number) => void) | undefined;
}

/** `mayWrite`: throws if this run may not write any more; called before each commit. Throws if `signal` is aborted. */
export async function loadFiles(
  { python, table, results, ...columns }: FileLoad,
  mayWrite: () => Promise<void>,
  signal?: AbortSignal,
  watch: LoadWatch = {},
): Promise<LoadedFiles> {
  const task = { ...columns, table: table.uri, results: results.map(({ uri }) => uri), options: table.options ?? null };
  const isOnRay = "workers" in columns && columns.workers !== undefined;
  const name = isOnRay ? "load_on_ray.py" : "load_column.py";
  let [rows, commits] = [0, 0];
  /** What the script reported at its end; null if all is well. */
  let report: string | null | undefined;
  const failed = await runScript<LoaderMessage>(
    { python, name, task },
    async ({ ask, loaded, left, problem: first, missing, printed: line }, answer) => {
      if (line !== undefined) watch.printed?.(line);
      if (ask !== undefined) {
        await mayWrite();
        answer("yes");
      }
      if (loaded !== undefined) {
        [rows, commits] = [rows + loaded, commits + 1];
        watch.loaded?.(rows);
      }
      if (left !== undefined) report = left === 0 ? null : `${leftWords(left)}: ${firstLine(first)}`;
      if (missing !== undefined) report = missing;
    },
    signal,
  );
  if (report !== undefined) return { rows, commits, problem: report ?? undefined };
  return { rows, commits, problem: failed ?? "it ended early" };
}

export interface Loader {
  /** Whether values are loaded with files of the column. Otherwise they are merged. */
  readonly usable: boolean;
  /** With which Python, or why not, as text. */
  readonly detail: string;
}

/** Undefined where no program can reach the files of tables, so that values are merged. */
export async function findLoader(
  python: string | undefined,
  { rows }: Pick<Target, "rows">,
): Promise<Loader | undefined> {
  if (rows?.files === undefined) return undefined;
  if (python === undefined)
    return {
      usable: false,
      detail:
        "no Python is configured (--python, MIGRATE_PYTHON, python), and there is no .venv with pylance beside the configuration",
    };
  const ended = await run(python, [scriptIn("load_column.py"), "--check"], { timeout: longestCheck }).catch(
    (error: Error & { readonly stdout?: string; readonly stderr?: string }) => error,
  );
  if (isError(ended) && !ended.stderr)
    return { usable: false, detail: `${python} can't be started (${fileReason(ended)})` };
  const [{ version, missing } = {}] = (ended.stdout ?? "")
    .split("\n")
    .flatMap((line) => parseMessage<LoaderMessage>(line));
  return version === undefined
    ? { usable: false, detail: `${python}: ${missing ?? lastLine(ended.stderr ?? "")[0] ?? "it gave no answer"}` }
    : { usable: true, detail: `${python} has pylance ${version}` };
}

/** What it means that values are loaded, or are not. */
export function loaderText({ usable, detail }: Loader): string {
  return usable ? detail : `${detail}, so values are merged into the table, which writes whole rows`;
}

const run = promisify(execFile);
/** Milliseconds. Loading its packages takes a few seconds at most. */
const longestCheck = 60_000;

function leftWords(left: number): string {
  return `${count(left, "fragment")} of the table can't be loaded`;
}

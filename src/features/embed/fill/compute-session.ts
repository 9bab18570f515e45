/** What the fills of one action share: their code, which is started once, and where they report to. */
import type { FillColumnAction } from "../../../actions/model/action.ts";
import { besidesSources, markName, markSql } from "../../../actions/rewrite/source-marks.ts";
import { isMigrateError, MigrateError } from "../../../errors/migrate-error.ts";
import { codeHash } from "../calls/code-hash.ts";
import type { Column } from "../../../schema/data-type.ts";
import { parsePath } from "../../../schema/path.ts";
import { requireColumn } from "../../../schema/table.ts";
import type { RowAccess } from "../../../targets/contract/row-access.ts";
import type { Target } from "../../../targets/contract/target.ts";
import type { Shard } from "../compute/shard.ts";
import type { Code } from "../compute/call-code.ts";
import type { Compute } from "../compute/compute-all.ts";
import type { KnownResults } from "../compute/own-results.ts";
import { stagedColumns } from "../compute/computing.ts";
import { LimitReached } from "../calls/fill-failed.ts";
import { fragmentsBefore } from "../compute/results.ts";
import { seldom } from "./seldom.ts";
import type { ComputeContext, FillContext, Filled } from "../compute/fill-context.ts";
import { areSiblings, partsOf, resultsName, resultsOf, stagingName, stagingsOf } from "../compute/staging-name.ts";
import type { ExecutorContext } from "../../../run/run-context.ts";
import type { LoadedFiles } from "./load-files.ts";
import type { Phases } from "../../../run/phase.ts";

export interface FillProject extends ExecutorContext {
  /** The rows that are computed; all when absent. */
  readonly shard?: Shard | undefined;
  /** Loads values with this number of tasks on Ray, to which this Python talks. On this machine when absent. */
  readonly loaders?: { readonly python: string; readonly workers: number } | undefined;
  /** Whether new values that are not good enough for the queries of the application are only reported. */
  readonly onlyReports?: boolean | undefined;
}

type FillTarget = Pick<Target, "countRows" | "listTables"> & { readonly rows: RowAccess };

export interface Loads {
  /** How many versions of the table were made by loading what was computed before. */
  readonly loads: number;
  /** Whether all of that was loaded, and nothing of it merged. */
  readonly isLoaded: boolean;
}

export interface ComputeSession {
  /** Computes the values of a column that is not there yet, beside the table. Returns how many rows failed, and why. */
  computeAhead(action: FillColumnAction, columns: readonly Column[]): Promise<Filled["problem"]>;
  fill(action: FillColumnAction, columns: readonly Column[], how: FillOptions): Promise<Filled & Loads>;
  /** Loads marks that SQL makes into a column of nulls; absent if there is no Python for it. */
  readonly loadMarks?: ((action: FillColumnAction, mark: string, sql: string) => Promise<LoadedFiles>) | undefined;
  /** Starts the code, and passes it on for what are no rows of the table. */
  withCode<Result>(
    action: FillColumnAction,
    columns: readonly Column[],
    work: (compute: Compute) => Promise<Result>,
  ): Promise<Result>;
  close(): Promise<void>;
}

interface Reported {
  readonly table: string;
  readonly path: string;
}

type FillOptions = Pick<
  FillContext,
  "failure" | "inUse" | "keepsFailed" | "outrun" | "pause" | "phase" | "signal" | "verdict"
>;

/** `reported`: the column as users name it, for events. */
export function openComputeSession(
  target: FillTarget,
  project: FillProject,
  reported: Reported,
  phases: Phases,
): ComputeSession {
  const {
    folder = process.cwd(),
    runsCode = true,
    clock,
    signal,
    mayWrite,
    ledger,
    emit,
    shard,
    python,
    loaders,
    budget,
  } = project;
  const { rows, listTables, countRows } = target;
  /** By what the step names: an evaluation needs that of the old model too. */
  const codes = new Map<string, Code>();
  let computed: readonly [rows: number, total: number | undefined] = [0, undefined];
  const printed = (line: string) => emit({ event: "printed", ...reported, line });
  const computing = async <Result>(
    action: FillColumnAction,
    columns: readonly Column[],
    work: (context: ComputeContext) => Promise<Result>,
  ): Promise<Result> => {
    const { table, path } = action;
    const { openCode, sampleCode } = await import("../compute/call-code.ts");
    const staging = stagingName(ledger, action, shard);
    const progress = seldom(clock, (done: number, total?: number) =>
      emit({ event: "computed", table, path, rows: done, total }),
    );
    try {
      return await work({
        rows,
        clock,
        start: async () => {
          const name = JSON.stringify(action.with);
          const context = { folder, clock, signal, budget, printed };
          const code = codes.get(name) ?? (runsCode ? await openCode(action, context) : sampleCode(action, columns));
          codes.set(name, code);
          return code.compute;
        },
        codeHash: runsCode ? codeHash(action.with, folder) : undefined,
        shard,
        staging,
        mayWrite,
        // Only those who watch need it.
        count: countRows && (async (where) => await countRows(table, where).catch(() => undefined)),
        progress: (...now) => {
          computed = now;
          progress.see(...now);
        },
      });
    } catch (cause) {
      if (cause instanceof LimitReached) {
        const [done, total] = computed;
        const column = `${reported.table}.${reported.path}`;
        throw new MigrateError("ERR_LIMIT_REACHED", { limit: cause.message, column, done, total }, { cause });
      }
      // What the target or the lease reports is stated, also by a run that was interrupted.
      if (signal?.aborted !== true || isMigrateError(cause)) throw cause;
      const done = `${reported.table}.${reported.path} is computed in part; run the same command to continue`;
      throw new MigrateError("ERR_INTERRUPTED", { done }, { cause });
    } finally {
      progress.end();
    }
  };
  /** The tables of results of this column, without those that are of no use, which are dropped. */
  const usable = async (action: FillColumnAction, columns: readonly Column[]): Promise<readonly KnownResults[]> => {
    const found: KnownResults[] = [];
    const { table, path, key, mark = markName } = action;
    const own = requireColumn(table, columns, parsePath(path));
    const values = stagedColumns({ key: requireColumn(table, columns, [key]), mark, column: own });
    for (const name of resultsOf(await listTables(), action)) {
      const before = await fragmentsBefore(name, values, action, rows);
      if (before !== undefined) found.push({ name, before });
      else if (shard === undefined) {
        await mayWrite();
        await rows.drop(name);
      }
    }
    return found;
  };
  /** How many rows these tables have, if they can be counted. */
  const countedIn = async (names: readonly string[]): Promise<number | undefined> => {
    if (countRows === undefined) return undefined;
    const counts = await Promise.all(names.map(async (name) => await countRows(name))).catch(() => undefined);
    return counts?.reduce((sum, one) => sum + one, 0);
  };
  /** Undefined if the results must be merged. What could not be loaded, a merge still can. */
  const load = async (action: FillColumnAction, columns: readonly Column[], results: readonly string[]) => {
    const { table, path, key, where, mark = markName } = action;
    const ways = [loaders, python === undefined ? undefined : { python }].filter((way) => way !== undefined);
    if (results.length === 0 || ways.length === 0 || rows.files === undefined) return undefined;
    const { isLoadable, loadFiles } = await import("./load-files.ts");
    if (!isLoadable(requireColumn(table, columns, parsePath(path)))) return undefined;
    const files = { table: rows.files(table), results: results.map(rows.files) };
    const source = `arrow_cast(${markSql(action)}, 'Utf8')`;
    const task = { ...files, column: parsePath(path)[0]!, key, mark, source, where, plain: besidesSources };
    let loaded: LoadedFiles = { rows: 0, commits: 0, problem: undefined };
    await phases.enter("loading", await countedIn(results));
    const watch = { printed, loaded: (rows: number) => phases.reached(loaded.rows + rows) };
    for (const way of ways) {
      const { problem, ...more } = await loadFiles({ ...way, ...task }, mayWrite, signal, watch);
      loaded = { rows: loaded.rows + more.rows, commits: loaded.commits + more.commits, problem };
      if (problem === undefined) break;
      if (way !== ways.at(-1)) printed(`values can't be loaded on Ray (${problem}), so this machine loads them`);
    }
    emit({ event: "loaded", ...reported, rows: loaded.rows, problem: loaded.problem });
    if (loaded.problem !== undefined) return loaded;
    await mayWrite();
    for (const name of results.toReversed()) await rows.drop(name);
    return loaded;
  };
  const loadMarks = async (action: FillColumnAction, mark: string, sql: string) =>
    await computing(action, [], async () => {
      const { loadFiles } = await import("./load-files.ts");
      const files = { python: python!, table: rows.files!(action.table), results: [] as const };
      const task = { ...files, mark, sql: `arrow_cast(${sql}, 'Utf8')` };
      const loaded = await loadFiles(task, mayWrite, signal, { printed });
      if (loaded.problem !== undefined)
        printed(`marks of the old values can't be loaded (${loaded.problem}), so the engine adds them`);
      return loaded;
    });
  const canLoad = python !== undefined && rows.files !== undefined;
  return {
    ...(canLoad && { loadMarks }),
    computeAhead: (action, columns) =>
      computing(action, columns, async (context) => {
        const first = resultsName(ledger, action, shard);
        const results = partsOf(await listTables(), first);
        // Those of as many shards have rows of this one only if these have moved since.
        const others = async () => {
          const found = await usable(action, columns);
          const own = new Set(
            partsOf(
              found.map(({ name }) => name),
              first,
            ).parts,
          );
          return found
            .filter(({ name }) => !own.has(name))
            .map((one) => (areSiblings(one.name, first) ? one : { ...one, before: -1 }));
        };
        // The fill that follows loads what shards have computed, and computes what they have left.
        if (shard === undefined && (await others()).length > 0) return undefined;
        const { computeAhead } = await import("../compute/compute-ahead.ts");
        await phases.enter("computing");
        return await computeAhead(action, columns, { ...context, results, others });
      }),
    fill: (action, columns, how) =>
      computing(action, columns, async (context) => {
        const { fillColumn } = await import("./fill-column.ts");
        const found = shard === undefined ? (await usable(action, columns)).map(({ name }) => name) : [];
        const loaded = await load(action, columns, found);
        const results = loaded !== undefined && loaded.problem === undefined ? [] : found;
        const staged = shard === undefined ? stagingsOf(await listTables(), ledger, action) : [context.staging];
        const filled = await fillColumn(action, { columns }, { ...context, ...how, results, staged, phases });
        return { ...filled, loads: loaded?.commits ?? 0, isLoaded: canLoad && results.length === 0 };
      }),
    withCode: (action, columns, work) => computing(action, columns, async ({ start }) => await work(await start())),
    close: async () => void (await Promise.all(Array.from(codes.values(), (code) => code.close()))),
  };
}

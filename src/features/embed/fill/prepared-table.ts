/** A table with a column that is prepared, and the changes of it that this takes. */
import type {
  Action,
  CatchUpColumnAction,
  CheckRecallAction,
  FillColumnAction,
  PrepareColumnAction,
} from "../../../actions/model/action.ts";
import { describeAction } from "../../../actions/apply-action.ts";
import { copyName, isPrepared, keptMark, preparedAs } from "../../../actions/rewrite/prepared-columns.ts";
import { markColumn } from "../../../actions/rewrite/source-marks.ts";
import { isInterruption, MigrateError } from "../../../errors/migrate-error.ts";
import { sameType, type Column } from "../../../schema/data-type.ts";
import { formatPath, parsePath } from "../../../schema/path.ts";
import { sqlPath } from "../../../schema/sql.ts";
import { requireColumn } from "../../../schema/table.ts";
import { patience, retry, type Patience } from "../../../targets/contract/retry.ts";
import type { RowAccess } from "../../../targets/contract/row-access.ts";
import type { Target } from "../../../targets/contract/target.ts";
import type { Clock } from "../../../time/clock.ts";
import type { Outrun } from "../../../run/events.ts";
import type { FillContext, Filled } from "../compute/fill-context.ts";
import { keysIn, mostKeys } from "../compute/found-rows.ts";
import type { ComputeSession, Loads } from "./compute-session.ts";
import type { Phases } from "../../../run/phase.ts";
import { areItsMarks, staleRows } from "./stale-rows.ts";

export interface PrepareContext {
  readonly target: Pick<Target, "capabilities" | "describeTable" | "execute" | "verdict">;
  readonly rows: RowAccess;
  readonly clock: Clock;
  /** Aborted if the run is interrupted. */
  readonly signal: AbortSignal | undefined;
  /** Whether this run computes all rows, and not a shard. */
  readonly isWhole: boolean;
  /** Throws if this run may not write any more. Called before each write. */
  readonly mayWrite: () => Promise<void>;
  /** Reports how often writes of others have come first. */
  readonly outrun: (how: Outrun) => void;
  readonly phases: Phases;
  /** Throws if the index of the column `path` does not fulfil its condition. */
  readonly checkRecall: (action: CheckRecallAction, path: string) => Promise<void>;
  /** Computes the values of a column that is not there yet, beside the table. Returns how many rows failed, and why. */
  readonly ahead: (action: FillColumnAction, columns: readonly Column[]) => Promise<Filled["problem"]>;
  readonly loadMarks?: ComputeSession["loadMarks"];
  readonly fill: (
    action: FillColumnAction,
    columns: readonly Column[],
    how: FillWay,
  ) => Promise<Filled & Partial<Loads>>;
}

export interface FillWay extends Pick<FillContext, "failure" | "inUse" | "phase"> {
  /** Whether the column has just taken the place of another one, so that applications may have begun writes before. */
  readonly isNew?: boolean | undefined;
}

/** Milliseconds after which it is reported that a change takes many tries: an index takes long to create. */
const longOutrun = 20_000;

/** A table with a column that is prepared. */
export class PreparedTable {
  readonly column: string;
  readonly next: string;
  readonly mark: string;
  commits = 0;
  readonly #action: PrepareColumnAction | CatchUpColumnAction;
  readonly #context: PrepareContext;

  constructor(action: PrepareColumnAction | CatchUpColumnAction, context: PrepareContext) {
    this.#action = action;
    this.#context = context;
    this.column = parsePath(action.path)[0]!;
    const into = action.kind === "prepareColumn" ? action.into : action.was && formatPath([action.was]);
    ({ next: this.next, mark: this.mark } = preparedAs({ path: action.path, into }));
  }

  /** All columns, including those that migrations don't see. */
  async columns(): Promise<readonly Column[]> {
    const { table } = this.#action;
    const columns = await this.#context.rows.columns(table);
    if (columns === undefined) throw new Error(`there is no table ${table}`);
    return columns;
  }

  /** `inUse`: the marks of a column to which others write too. Otherwise its values need not be read. */
  filling(column: string, inUse?: string): FillColumnAction {
    // Only a rollback gives an existing column its values.
    const keepsFailed = this.next !== preparedAs({ path: this.#action.path }).next;
    const marks = { mark: inUse ?? this.mark, overwrite: inUse === undefined };
    return { ...this.#action, kind: "fillColumn", path: formatPath([column]), ...marks, keepsFailed };
  }

  /** Computes the values beside the table, if it does not have the column yet and its rows have addresses. */
  async computeAhead(type: Column["type"]): Promise<Pick<Filled, "problem"> | undefined> {
    const { isWhole, rows } = this.#context;
    if (isWhole) await this.#endMove();
    // Marks without values are those of a column that was dropped, and values of another type are those of another step.
    // Decided on the columns as they are now: another process may just have added them.
    await this.drop([this.next, this.mark], (columns) => {
      const found = columns.find(({ name }) => name === this.next);
      return found === undefined || !sameType(found.type, type);
    });
    const columns = await this.columns();
    if (has(columns, this.next) || (await rows.version(this.#action.table)) === undefined) return undefined;
    return { problem: await this.#context.ahead(this.filling(this.next), [...columns, ...this.#added(type)]) };
  }

  #added(type: Column["type"]): readonly Column[] {
    return [{ name: this.next, type, nullable: true }, markColumn(this.mark)];
  }

  /** Adds the column of values and that of their marks, unless they are there. */
  async addColumns(type: Column["type"]): Promise<void> {
    const { isWhole } = this.#context;
    const wanted = this.#added(type);
    await this.change((columns) => {
      const missing = wanted.filter((one) => !has(columns, one.name));
      return missing.length === 0 ? undefined : { kind: "addColumns", table: this.#action.table, columns: missing };
    }, patience.ahead);
    const columns = await this.columns();
    const after = columns.slice(columns.findIndex(({ name }) => name === this.next));
    if (isWhole && after.some(({ name }) => !isPrepared(name))) await this.#move(type);
  }

  /** Sets metadata of a column, unless it is set. */
  async note(column: string, metadata: Readonly<Record<string, string>>): Promise<void> {
    const updates = [{ path: formatPath([column]), metadata }];
    await this.change((columns) => {
      const found = columns.find(({ name }) => name === column)?.metadata ?? {};
      const isNoted = Object.entries(metadata).every(([key, value]) => found[key] === value);
      return isNoted ? undefined : { kind: "setMetadata", table: this.#action.table, updates };
    });
  }

  /** Renames the marks, so that a rollback to the column `keep` finds them. */
  async keepMarks(keep: string): Promise<void> {
    const kept = keptMark(keep);
    await this.drop([kept], (columns) => has(columns, this.mark));
    const alterations = [{ path: formatPath([this.mark]), rename: kept }];
    await this.change((columns) =>
      has(columns, this.mark) ? { kind: "alterColumns", table: this.#action.table, alterations } : undefined,
    );
  }

  /**
   * Removes the values of the old column `keep` that are outdated, as the marks show that a former rollback has left: when
   * the new column is rolled back too, nothing else would show it. `version`: that of these marks. Then drops the marks.
   */
  async removeOutdated(keep: string, version: string): Promise<void> {
    const { rows, mayWrite } = this.#context;
    const mark = keptMark(this.column);
    const columns = await this.columns();
    if (!has(columns, mark) || !has(columns, keep)) return;
    const { table, key } = this.#action;
    const keyColumn = requireColumn(table, columns, [key]);
    const former = { ...this.#action, path: formatPath([keep]), mark, version };
    // The step may have been changed since.
    if (!(await areItsMarks(former, columns, rows))) return await this.drop([mark]);
    for await (const batch of staleRows(former, columns, rows)) {
      const outdated = batch.filter(({ why }) => why === "outdated").map((row) => ({ [key]: row.key }));
      for (let next = 0; next < outdated.length; next += mostKeys) {
        await mayWrite();
        await rows.setNull(table, [keep], keysIn(outdated.slice(next, next + mostKeys), keyColumn));
        this.commits++;
      }
    }
    await this.drop([mark]);
  }

  /** Drops those of these columns that are there, if that is wanted of the columns as they are now. */
  async drop(names: readonly string[], isWanted: (columns: readonly Column[]) => boolean = () => true): Promise<void> {
    await this.change((columns) => {
      const paths = names.filter((name) => has(columns, name)).map((name) => formatPath([name]));
      if (paths.length === 0 || !isWanted(columns)) return undefined;
      return { kind: "dropColumns", table: this.#action.table, paths };
    });
  }

  /** Lets the indexes on other columns cover the merged rows again: until then, searches compare these one by one. */
  async optimize(): Promise<void> {
    const { table } = this.#action;
    const { rows, target, phases } = this.#context;
    const others = Object.values(await rows.indexes(table)).filter(({ path }) => !isPrepared(parsePath(path)[0]!));
    if (others.length === 0 || target.capabilities.actions.optimizeTable !== true) return;
    await phases.enter("optimizing");
    try {
      await this.change(() => ({ kind: "optimizeTable", table }), patience.detour);
    } catch (error) {
      // Beside fast writers it may never succeed, and searches are right without it.
      if (target.verdict(error).kind !== "conflict") throw error;
    }
  }

  /**
   * The column must be the last one, as its place is where a new column would be. If another column was added since it
   * was prepared, its values and marks are copied to new columns.
   */
  async #move(type: Column["type"]): Promise<void> {
    const { table } = this.#action;
    const copies = [
      { name: copyName(this.next), type, nullable: true, as: sqlPath([this.next]) },
      { ...markColumn(copyName(this.mark)), as: sqlPath([this.mark]) },
    ];
    await this.change((columns) =>
      has(columns, copyName(this.next)) ? undefined : { kind: "addColumns", table, columns: copies },
    );
    // What is merged meanwhile is dropped with its marks, and computed again.
    await this.drop([this.next, this.mark]);
    await this.#endMove();
  }

  /** Continues the move of a run that was killed. */
  async #endMove(): Promise<void> {
    const { table } = this.#action;
    const names = [this.next, this.mark];
    const copies = names.map(copyName);
    const columns = await this.columns();
    if (!has(columns, copyName(this.next))) return;
    if (has(columns, this.next)) return await this.drop(copies);
    const alterations = names.map((name) => ({ path: formatPath([copyName(name)]), rename: name }));
    await this.change((now) =>
      has(now, copyName(this.next)) ? { kind: "alterColumns", table, alterations } : undefined,
    );
  }

  /** Makes a change if it is still to be made, until it is made. Others may commit meanwhile, or make the same change. */
  async change(
    pending: (columns: readonly Column[]) => Action | undefined | Promise<Action | undefined>,
    allowed: Patience = patience.conflict,
  ): Promise<void> {
    const { target, clock, mayWrite, signal } = this.#context;
    const verdict = (error: unknown) =>
      isInterruption(error) ? ({ kind: "refused" } as const) : target.verdict(error);
    let tries = 0;
    const began = clock.steady();
    let reported = began;
    const work = async () => {
      const action = await pending(await this.columns());
      if (action === undefined) return;
      if (signal?.aborted === true) throw this.interrupted();
      await mayWrite();
      try {
        const { commits = 1 } = await target.execute(action, await target.describeTable(this.#action.table));
        this.commits += commits;
      } catch (error) {
        // Another process may have made the same change.
        if ((await pending(await this.columns())) === undefined) return;
        if (target.verdict(error).kind === "conflict") tries++;
        if (tries > 0 && clock.steady() >= reported + longOutrun) {
          reported = clock.steady();
          this.#context.outrun({ tries, elapsed: reported - began, text: describeAction(action) });
        }
        throw error;
      }
    };
    await retry(work, verdict, clock, allowed);
  }

  interrupted(): MigrateError {
    const done = `${this.#action.table}.${this.#action.path} is prepared in part; run the same command to continue`;
    return new MigrateError("ERR_INTERRUPTED", { done });
  }
}

export function has(columns: readonly Column[], wanted: string): boolean {
  return columns.some(({ name }) => name === wanted);
}

/**
 * Prepares a column: computes its new values in a hidden column and indexes them there; and ends that, when the hidden
 * column has taken its place. The table itself shows how far this got, so anyone may continue it at any time.
 */
import type {
  Action,
  CatchUpColumnAction,
  CheckRecallAction,
  FillColumnAction,
  PreparedIndex,
  PrepareColumnAction,
  RecallCondition,
} from "../../actions/model/action.ts";
import { copyName, isPrepared, keptMark, preparedAs } from "../../actions/rewrite/prepared-columns.ts";
import { isIntact, markColumn, markSql } from "../../actions/rewrite/source-marks.ts";
import { deferralMarks } from "../../schema/deferred-index.ts";
import { sameType, type Column } from "../../schema/data-type.ts";
import { formatPath, parsePath } from "../../schema/path.ts";
import { stepHash } from "../../migrations/checksum.ts";
import { sqlPath } from "../../schema/sql.ts";
import { patience, retry, type Patience } from "../../targets/contract/retry.ts";
import type { RowAccess } from "../../targets/contract/row-access.ts";
import type { Target } from "../../targets/contract/target.ts";
import type { Clock } from "../../time/clock.ts";
import { RecallTooLow } from "../recall/describe-recall.ts";
import type { Filled } from "./fill-context.ts";

export interface PrepareContext {
  readonly target: Pick<Target, "capabilities" | "commitsOf" | "describeTable" | "execute" | "verdict">;
  readonly rows: RowAccess;
  readonly clock: Clock;
  /** Whether this run computes all rows, and not a shard. */
  readonly isWhole: boolean;
  /** Throws if this run may not write any more. Called before each write. */
  readonly mayWrite: () => Promise<void>;
  /** Reports how often writes of others have come first. */
  readonly outrun: (tries: number) => void;
  /** Throws if the index of the column `path` does not fulfil its condition. */
  readonly checkRecall: (action: CheckRecallAction, path: string) => Promise<void>;
  readonly fill: (action: FillColumnAction, columns: readonly Column[]) => Promise<Filled>;
}

/** Keys of the metadata of the marks: the hash of the index, and the one of the index and the condition that it fulfils. */
const indexKey = "lance_migrate_index";
const recallKey = "lance_migrate_recall";

/** Beside fast writers, a change may take many tries. Each of these numbers takes some seconds. */
const triesReported = 25;

/** What has happened, and how many versions of the table it made. */
export interface Prepared {
  readonly problem: Filled["problem"];
  readonly commits: number;
}

export async function prepareColumn(action: PrepareColumnAction, context: PrepareContext): Promise<Prepared> {
  const table = new PreparedTable(action, context);
  await (action.into === undefined ? table.addColumns(action.type) : table.addMarks(action));
  const { problem, merges } = await context.fill(table.filling(table.next, true), await table.columns());
  if (merges > 0) await table.optimize();
  // A column that migrations see has its own indexes.
  if (context.isWhole && action.into === undefined) await table.index(action.index, action.condition);
  return { problem, commits: table.commits + merges };
}

export async function catchUpColumn(action: CatchUpColumnAction, context: PrepareContext): Promise<Prepared> {
  const table = new PreparedTable(action, context);
  const columns = await table.columns();
  // An earlier run has dropped the marks when everything was computed.
  if (!has(columns, table.mark)) return { problem: undefined, commits: 0 };
  const { problem, merges } = await context.fill(table.filling(table.column), columns);
  await (action.keep === undefined ? table.drop([table.mark]) : table.keepMarks(action.keep));
  return { problem, commits: table.commits + merges };
}

/** A table with a column that is prepared. */
class PreparedTable {
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

  /** `overwrite`: no one else writes to the column, so that its values need not be read. */
  filling(column: string, overwrite = false): FillColumnAction {
    // Only a rollback gives an existing column its values.
    const keepsFailed = this.next !== preparedAs({ path: this.#action.path }).next;
    return { ...this.#action, kind: "fillColumn", path: formatPath([column]), mark: this.mark, overwrite, keepsFailed };
  }

  /** Adds the column of values and that of their marks, unless they are there. */
  async addColumns(type: Column["type"]): Promise<void> {
    const { isWhole } = this.#context;
    if (isWhole) await this.#endMove();
    // Marks without values are those of a column that was dropped, and values of another type are those of another step.
    // Decided on the columns as they are now: another shard may just have added them.
    await this.drop([this.next, this.mark], (columns) => {
      const found = columns.find(({ name }) => name === this.next);
      return found === undefined || !sameType(found.type, type);
    });
    const wanted = [{ name: this.next, type, nullable: true }, markColumn(this.mark)];
    await this.#change((columns) => {
      const missing = wanted.filter((one) => !has(columns, one.name));
      return missing.length === 0 ? undefined : { kind: "addColumns", table: this.#action.table, columns: missing };
    }, patience.ahead);
    const columns = await this.columns();
    const after = columns.slice(columns.findIndex(({ name }) => name === this.next));
    if (isWhole && after.some(({ name }) => !isPrepared(name))) await this.#move(type);
  }

  /**
   * Adds the column of marks, unless it is there, with those of the rows whose old value is intact. Without the marks from
   * before the switch, none is known to be.
   */
  async addMarks(action: PrepareColumnAction): Promise<void> {
    const kept = keptMark(this.next);
    await this.#change((columns) => {
      if (has(columns, this.mark)) return undefined;
      const marked = has(columns, kept) ? action.marked : undefined;
      const as = `case when ${isIntact(action, this.next, marked, kept)} then ${markSql(action)} end`;
      return { kind: "addColumns", table: action.table, columns: [{ ...markColumn(this.mark), as }] };
    }, patience.ahead);
  }

  /** Renames the marks, so that a rollback to the column `keep` finds them. */
  async keepMarks(keep: string): Promise<void> {
    const kept = keptMark(keep);
    await this.drop([kept], (columns) => has(columns, this.mark));
    const alterations = [{ path: formatPath([this.mark]), rename: kept }];
    await this.#change((columns) =>
      has(columns, this.mark) ? { kind: "alterColumns", table: this.#action.table, alterations } : undefined,
    );
  }

  /** Drops those of these columns that are there, if that is wanted of the columns as they are now. */
  async drop(names: readonly string[], isWanted: (columns: readonly Column[]) => boolean = () => true): Promise<void> {
    await this.#change((columns) => {
      const paths = names.filter((name) => has(columns, name)).map((name) => formatPath([name]));
      if (paths.length === 0 || !isWanted(columns)) return undefined;
      return { kind: "dropColumns", table: this.#action.table, paths };
    });
  }

  /** Lets the indexes on other columns cover the merged rows again: until then, searches compare these one by one. */
  async optimize(): Promise<void> {
    const { table } = this.#action;
    const { rows, target } = this.#context;
    const others = Object.values(await rows.indexes(table)).filter(({ path }) => !isPrepared(parsePath(path)[0]!));
    if (others.length === 0 || target.capabilities.actions.optimizeTable !== true) return;
    await this.#change(() => ({ kind: "optimizeTable", table }));
  }

  /** Creates the index, unless it is there or must be deferred, and drops it again if it does not fulfil the condition. */
  async index(wanted: PreparedIndex | undefined, condition: RecallCondition | undefined): Promise<void> {
    const { table, path } = this.#action;
    const { target } = this.#context;
    await this.#dropIndexes(wanted?.name);
    if (wanted === undefined) return;
    const { name, ...type } = wanted;
    const own = formatPath([this.next]);
    const drop: Action = { kind: "dropIndex", table, name };
    const hash = stepHash(wanted);
    // Targets report the parameters of an index differently, or not at all.
    if (this.#metadataOf(await this.columns())[indexKey] !== hash)
      await this.#change(async () => ((await this.#hasIndex(name)) ? drop : undefined));
    await this.#note(indexKey, hash);
    const create: Action = { kind: "createIndex", table, name, index: { path: own, ...type } };
    await this.#change(async () => ((await this.#hasIndex(name)) ? undefined : create));
    if (!has(await this.columns(), this.next)) {
      // The engine accepts such an index, and then refuses filters on the table (docs/engine.md).
      await target.execute(drop, await target.describeTable(table)).catch(() => {});
      throw new Error(`${this.next} was dropped while its index was created`);
    }
    // Rows that were merged since it was checked are few.
    if (
      condition === undefined ||
      this.#metadataOf(await this.columns())[recallKey] === stepHash({ wanted, condition })
    )
      return;
    try {
      const check = { kind: "checkRecall", table, name, index: { path, ...type }, ...condition } as const;
      await this.#context.checkRecall(check, own);
    } catch (error) {
      // After an interruption, the next run only checks it.
      if (error instanceof RecallTooLow)
        await this.#change(async () => ((await this.#hasIndex(name)) ? drop : undefined));
      throw error;
    }
    if (await this.#hasIndex(name)) await this.#note(recallKey, stepHash({ wanted, condition }));
  }

  /** Notes something in the metadata of the marks. */
  async #note(key: string, value: string): Promise<void> {
    const updates = [{ path: formatPath([this.mark]), metadata: { [key]: value } }];
    await this.#change((columns) =>
      this.#metadataOf(columns)[key] === value
        ? undefined
        : { kind: "setMetadata", table: this.#action.table, updates },
    );
  }

  /** Drops the indexes of an earlier form of the step. */
  async #dropIndexes(but: string | undefined): Promise<void> {
    const { table } = this.#action;
    await this.#change(async () => {
      const deferred = deferralMarks(await this.columns());
      const found = Object.entries({ ...deferred, ...(await this.#context.rows.indexes(table)) });
      const other = found.find(([name, { path }]) => name !== but && parsePath(path)[0] === this.next);
      return other && { kind: "dropIndex", table, name: other[0] };
    });
  }

  /** Whether there is an index of that name on the prepared column. */
  async #hasIndex(name: string): Promise<boolean> {
    const found = (await this.#context.rows.indexes(this.#action.table))[name];
    return found !== undefined && parsePath(found.path)[0] === this.next;
  }

  #metadataOf(columns: readonly Column[]): Readonly<Record<string, string | null>> {
    return columns.find(({ name }) => name === this.mark)?.metadata ?? {};
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
    await this.#change((columns) =>
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
    await this.#change((now) =>
      has(now, copyName(this.next)) ? { kind: "alterColumns", table, alterations } : undefined,
    );
  }

  /** Makes a change if it is still to be made, until it is made. Others may commit meanwhile, or make the same change. */
  async #change(
    pending: (columns: readonly Column[]) => Action | undefined | Promise<Action | undefined>,
    allowed: Patience = patience.conflict,
  ): Promise<void> {
    const { target, clock, mayWrite } = this.#context;
    let outrun = 0;
    const work = async () => {
      const action = await pending(await this.columns());
      if (action === undefined) return;
      await mayWrite();
      try {
        await target.execute(action, await target.describeTable(this.#action.table));
        this.commits += target.commitsOf?.(action) ?? 1;
      } catch (error) {
        // Another process may have made the same change.
        if ((await pending(await this.columns())) === undefined) return;
        if (target.verdict(error).kind === "conflict" && ++outrun % triesReported === 0) this.#context.outrun(outrun);
        throw error;
      }
    };
    await retry(work, (error) => target.verdict(error), clock, allowed);
  }
}

function has(columns: readonly Column[], wanted: string): boolean {
  return columns.some(({ name }) => name === wanted);
}

/**
 * Prepares a column: computes its new values in a hidden column and indexes them there; and ends that, when the hidden
 * column has taken its place. The table itself shows how far this got, so anyone may continue it at any time.
 */
import type {
  Action,
  CatchUpColumnAction,
  FillColumnAction,
  PreparedIndex,
  PrepareColumnAction,
} from "../../actions/model/action.ts";
import { isPrepared, movingName, preparedMark, preparedName } from "../../actions/rewrite/prepared-columns.ts";
import { markColumn } from "../../actions/rewrite/source-marks.ts";
import { sameType, type Column } from "../../schema/data-type.ts";
import { formatPath, parsePath } from "../../schema/path.ts";
import { sqlPath } from "../../schema/sql.ts";
import { patience, retry } from "../../targets/contract/retry.ts";
import type { RowAccess } from "../../targets/contract/row-access.ts";
import type { Target } from "../../targets/contract/target.ts";
import type { Clock } from "../../time/clock.ts";
import type { Filled } from "./fill-column.ts";

export interface PrepareContext {
  readonly target: Pick<Target, "describeTable" | "execute" | "verdict">;
  readonly rows: RowAccess;
  readonly clock: Clock;
  /** Throws if this run may not write any more. Called before each write. */
  readonly mayWrite: () => Promise<void>;
  readonly fill: (action: FillColumnAction, columns: readonly Column[]) => Promise<Filled>;
}

/** What has happened, and how many versions of the table it made. */
export interface Prepared {
  readonly problems: Filled["problems"];
  readonly commits: number;
}

export async function prepareColumn(action: PrepareColumnAction, context: PrepareContext): Promise<Prepared> {
  const table = new PreparedTable(action, context);
  await table.addColumns(action.type);
  const { problems, merges } = await context.fill(table.filling(table.next, true), await table.columns());
  if (action.index !== undefined) await table.index(action.index);
  return { problems, commits: table.commits + merges };
}

export async function catchUpColumn(action: CatchUpColumnAction, context: PrepareContext): Promise<Prepared> {
  const table = new PreparedTable(action, context);
  const columns = await table.columns();
  // An earlier run has dropped the marks when everything was computed.
  if (!columns.some(({ name }) => name === table.mark)) return { problems: [], commits: 0 };
  const { problems, merges } = await context.fill(table.filling(table.column), columns);
  await table.drop([table.mark]);
  return { problems, commits: table.commits + merges };
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
    this.next = preparedName(this.column);
    this.mark = preparedMark(this.column);
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
    return { ...this.#action, kind: "fillColumn", path: formatPath([column]), mark: this.mark, overwrite };
  }

  /** Adds the column of values and that of their marks, unless they are there. */
  async addColumns(type: Column["type"]): Promise<void> {
    await this.#endMove();
    const found = (await this.columns()).find(({ name }) => name === this.next);
    // Its values can't be used, as the step has changed since they were computed.
    if (found !== undefined && !sameType(found.type, type)) await this.drop([this.next, this.mark]);
    const wanted = [{ name: this.next, type, nullable: true }, markColumn(this.mark)];
    await this.#change((columns) => {
      const missing = wanted.filter((one) => !columns.some(({ name }) => name === one.name));
      return missing.length === 0 ? undefined : { kind: "addColumns", table: this.#action.table, columns: missing };
    });
    const columns = await this.columns();
    const after = columns.slice(columns.findIndex(({ name }) => name === this.next));
    if (after.some(({ name }) => !isPrepared(name))) await this.#move(type);
  }

  async drop(names: readonly string[]): Promise<void> {
    await this.#change((columns) => {
      const paths = names.filter((one) => columns.some(({ name }) => name === one)).map((name) => formatPath([name]));
      return paths.length === 0 ? undefined : { kind: "dropColumns", table: this.#action.table, paths };
    });
  }

  /** Creates the index, unless it is there. */
  async index({ name, ...type }: PreparedIndex): Promise<void> {
    const { table } = this.#action;
    const path = formatPath([this.next]);
    const { rows } = this.#context;
    const found = (await rows.indexes(table))[name];
    if (found !== undefined && parsePath(found.path)[0] === this.next && found.kind !== type.kind)
      await this.#change(async () =>
        (await rows.indexes(table))[name] === undefined ? undefined : { kind: "dropIndex", table, name },
      );
    await this.#change(async () =>
      (await rows.indexes(table))[name] === undefined
        ? { kind: "createIndex", table, name, index: { path, ...type } }
        : undefined,
    );
  }

  /**
   * The column must be the last one, as its place is where a new column would be. If another column was added since it
   * was prepared, its values are copied to a new column.
   */
  async #move(type: Column["type"]): Promise<void> {
    const { table } = this.#action;
    const copy = { name: movingName, type, nullable: true, as: sqlPath([this.next]) };
    await this.#change((columns) =>
      columns.some(({ name }) => name === movingName) ? undefined : { kind: "addColumns", table, columns: [copy] },
    );
    await this.drop([this.next]);
    await this.#endMove();
  }

  /** Continues the move of a run that was killed. */
  async #endMove(): Promise<void> {
    const { table } = this.#action;
    const has = (columns: readonly Column[], wanted: string) => columns.some(({ name }) => name === wanted);
    const columns = await this.columns();
    if (!has(columns, movingName)) return;
    if (has(columns, this.next)) return await this.drop([movingName]);
    const alterations = [{ path: formatPath([movingName]), rename: this.next }];
    await this.#change((now) => (has(now, movingName) ? { kind: "alterColumns", table, alterations } : undefined));
  }

  /** Makes a change if it is still to be made, until it is made. Others may commit meanwhile, or make the same change. */
  async #change(
    pending: (columns: readonly Column[]) => Action | undefined | Promise<Action | undefined>,
  ): Promise<void> {
    const { target, clock, mayWrite } = this.#context;
    const work = async () => {
      const action = await pending(await this.columns());
      if (action === undefined) return;
      await mayWrite();
      try {
        await target.execute(action, await target.describeTable(this.#action.table));
        this.commits++;
      } catch (error) {
        // Another process may have made the same change.
        if ((await pending(await this.columns())) !== undefined) throw error;
      }
    };
    await retry(work, (error) => target.verdict(error), clock, patience.conflict);
  }
}

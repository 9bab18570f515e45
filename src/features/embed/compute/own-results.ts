/** The tables of results to which a run appends, and those that earlier runs have left. */
import type { RowValues } from "../../../schema/row-values.ts";
import type { Column } from "../../../schema/data-type.ts";
import type { ComputeContext } from "./fill-context.ts";
import { addressOf, originColumn, resultOrigin, resultColumns } from "./results.ts";
import type { Parts } from "./staging-name.ts";

/** A table of results that may have some of the rows. */
export interface KnownResults {
  readonly name: string;
  /** It has no rows of fragments up to this one that this run would compute: others are computed there. */
  readonly before: number;
}

/** Each append is a file that the next ones list again, so the results go on in another table after this number of appends. */
const mostAppends = 500;

/** After how many appends results are indexed by their keys: each append makes a part, and a search would read all. */
const manyAppends = 200;

interface ResultsTable extends KnownResults {
  /** How many appends its index does not cover. */
  unindexed: number;
}

export class OwnResults {
  readonly #names: Parts;
  readonly #context: Pick<ComputeContext, "mayWrite" | "rows">;
  readonly #tables: ResultsTable[] = [];
  #made = 0;
  #appends = 0;

  constructor(names: Parts, context: Pick<ComputeContext, "mayWrite" | "rows">) {
    this.#names = names;
    this.#context = context;
  }

  get tables(): readonly KnownResults[] {
    return this.#tables;
  }

  /** The last fragment that there was before any of them; undefined if there are none. */
  get before(): number | undefined {
    return this.#tables.length === 0 ? undefined : Math.min(...this.#tables.map(({ before }) => before));
  }

  /** One that an earlier run has left, which is continued if it is the last one. `appends`: how often it was written to. */
  found(name: string, before: number, appends: number): void {
    this.#tables.push({ name, before, unindexed: manyAppends });
    this.#appends = appends;
  }

  /** `columns`: those of the values, of which `mark` is one. `before`: the last fragment that there was. */
  async append(
    values: readonly RowValues[],
    columns: readonly Column[],
    how: { readonly mark: string; readonly before: number } & Parameters<typeof resultOrigin>[0],
  ): Promise<void> {
    if (this.#tables.length === 0 || this.#appends >= mostAppends) {
      this.#tables.push({ name: this.#names.nameOf(this.#made++), before: how.before, unindexed: 0 });
      this.#appends = 0;
    }
    const table = this.#tables.at(-1)!;
    const origin = resultOrigin(how, table.before);
    const placed = values.map((value) => ({ ...value, [originColumn.name]: origin }));
    // Read in this order, few of them are needed at a time.
    const rows = placed.toSorted((one, other) => addressOf(one) - addressOf(other));
    // To compress hashes takes longer than to write them, and the table is soon dropped.
    const fields = { [how.mark]: { "lance-encoding:compression": "none" } };
    await this.#context.rows.append(table.name, { columns: resultColumns(columns), rows, fields });
    this.#appends++;
    table.unindexed++;
  }

  /** Lets rows of this table be found by their keys, if it is one of these. */
  async index(name: string, key: string): Promise<void> {
    const table = this.#tables.find((one) => one.name === name);
    const { rows, mayWrite } = this.#context;
    if (table === undefined || table.unindexed < manyAppends || rows.indexColumn === undefined) return;
    table.unindexed = 0;
    await mayWrite();
    // Without an index, the search only takes longer.
    await rows.indexColumn(name, key).catch(() => {});
  }
}

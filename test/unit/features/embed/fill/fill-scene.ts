/** A table whose column `length` is filled, on the embedded engine. */
import type { FillColumnAction } from "../../../../../src/actions/model/action.ts";
import { markColumn } from "../../../../../src/actions/rewrite/source-marks.ts";
import type { Compute } from "../../../../../src/features/embed/compute/compute-all.ts";
import { fillColumn } from "../../../../../src/features/embed/fill/fill-column.ts";
import type { Phases } from "../../../../../src/run/phase.ts";
import type { FillContext, Filled } from "../../../../../src/features/embed/compute/fill-context.ts";
import type { RowValues } from "../../../../../src/schema/row-values.ts";
import { open } from "../../../../../src/targets/lance/lance.ts";
import { temporaryFolder } from "../../../../support/project.ts";
import { lancedb, rowsOf } from "../../../../support/tables.ts";

/** For which nobody watches. */
export const phases: Phases = { enter: async () => {}, reached: () => {} };

export const staging = "_migrations.computed-test";

const action: FillColumnAction = {
  kind: "fillColumn",
  table: "docs",
  path: "length",
  from: ["text"],
  key: "id",
  with: "./lengths.ts",
  version: "1",
};

export const lengths: Compute = async (rows) => rows.map(({ text }) => (text as string | null)?.length ?? null);

export interface Row {
  readonly id: number;
  readonly text: string | null;
  readonly length?: number | null;
}

/** What a run of a test gives instead of the usual. */
export type Given = Partial<FillContext> & { readonly compute?: Compute };

/** `mark`: the name of the mark column. */
export async function aScene(rows: readonly Row[], mark = markColumn().name) {
  const folder = temporaryFolder();
  const target = await open({ kind: "lance", uri: folder }, { name: "test", folder });
  const access = target.rows!;
  const columns = [
    { name: "id", type: { kind: "int64" }, nullable: true },
    { name: "text", type: { kind: "utf8" }, nullable: true },
    { name: "length", type: { kind: "int32" }, nullable: true },
  ] as const;
  const marked = [...columns, markColumn(mark)];
  const withNulls = (some: readonly Row[]): RowValues[] => some.map((row) => ({ length: null, [mark]: null, ...row }));
  await access.append("docs", { columns: marked, rows: withNulls(rows) });
  /** All texts for which code was called. */
  const computed: (string | null)[] = [];
  const run = async (
    options: Partial<FillColumnAction> = {},
    { compute = lengths, ...others }: Given = {},
  ): Promise<Filled> =>
    await fillColumn({ ...action, ...options }, { columns: marked, indexes: {} } as never, {
      rows: access,
      phases,
      verdict: (error) => target.verdict(error),
      outrun: () => {},
      staging,
      staged: [staging],
      mayWrite: async () => {},
      progress: () => {},
      start: async () => async (some) => {
        const values = await compute(some);
        computed.push(...some.map(({ text }) => text as string | null));
        return values;
      },
      ...others,
    });
  return {
    run,
    computed,
    access,
    add: async (some: readonly Row[]) => await access.append("docs", { columns: marked, rows: withNulls(some) }),
    docs: async () => await (await lancedb.connect(folder)).openTable("docs"),
    tables: async () => await target.listTables(),
    lengths: async () => {
      const found = (await rowsOf(folder, "docs")) as unknown as readonly Row[];
      return found.toSorted((one, other) => one.id - other.id).map(({ length }) => length);
    },
  };
}

/** Computes some values and then fails. */
export function failingAfter(calls: number): Compute {
  let done = 0;
  return async (rows) => {
    if (++done > calls) throw new Error("enough");
    return await lengths(rows);
  };
}

/** Drawn tables through createTable, insertRows, backfillColumn and back, each state compared by pylance. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serialize } from "node:v8";
import { embed } from "../../src/features/embed/feature.ts";
import { down } from "../../src/commands/down.ts";
import { plan } from "../../src/commands/plan.ts";
import { up } from "../../src/commands/up.ts";
import { isMigrateError } from "../../src/errors/migrate-error.ts";
import type { Migration } from "../../src/migrations/load.ts";
import { column } from "../../src/schema/declare/validate.ts";
import { isFloat, type Column } from "../../src/schema/data-type.ts";
import { formatPath } from "../../src/schema/path.ts";
import type { RowValue, RowValues } from "../../src/schema/row-values.ts";
import type { Step } from "../../src/steps/registry.ts";
import { open } from "../../src/targets/lance/lance.ts";
import { aMigration } from "../simulate/history.ts";
import * as fc from "../support/fast-check.ts";
import { drawnColumns, drawnRow } from "./drawn-values.ts";
import type { Judge } from "./judge.ts";

interface Drawn {
  readonly columns: readonly Column[];
  /** With their keys. */
  readonly rows: readonly RowValues[];
  readonly inserted: readonly RowValues[];
  readonly computed: Column;
  /** One for each row, in the order of their keys. */
  readonly values: readonly RowValue[];
}

const key: Column = { name: "key", type: { kind: "int32" }, nullable: false };
const name: Column = { name: "name", type: { kind: "utf8" }, nullable: false };

/** Not all that is drawn can be declared. */
const declarable = (columns: readonly Column[]) => columns.every((one) => column.safeParse(one).success);

/** A model whose vector has null has failed, so code may give none; rows of a migration may. */
const canBeComputed =
  ({ type }: Column) =>
  ({ computed }: RowValues) =>
    !(type.kind === "fixedSizeList" && isFloat(type.item.type) && Array.isArray(computed) && computed.includes(null));

const tables: fc.Arbitrary<Drawn> = fc
  .tuple(drawnColumns().filter(declarable), drawnColumns(2).filter(declarable))
  .chain(([columns, [first]]) => {
    const computed = { ...first!, name: "computed", nullable: true };
    const row = drawnRow(columns);
    const rows = fc.array(row, { maxLength: 3 });
    return fc.tuple(rows, rows).chain(([some, more]) =>
      fc
        .array(drawnRow([computed]).filter(canBeComputed(computed)), {
          minLength: some.length + more.length,
          maxLength: some.length + more.length,
        })
        .map((values): Drawn => {
          const keyed = [...some, ...more].map((one, at) => ({ ...one, key: at, name: `${at}` }));
          return {
            columns: [key, name, ...columns],
            rows: keyed.slice(0, some.length),
            inserted: keyed.slice(some.length),
            computed,
            values: values.map((one) => one["computed"]!),
          };
        }),
    );
  });

/** Throws the first difference. */
export async function checkTables(count: number, seed: number, judge: Judge): Promise<number> {
  const drawn = fc.sample(tables, { numRuns: count, seed });
  const folder = mkdtempSync(join(tmpdir(), "lance-migrate-tables-"));
  try {
    return await checkIn(folder, drawn, judge, seed);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** All tables go through each migration at once; those that a plan refuses stay out. How many were compared. */
async function checkIn(folder: string, drawn: readonly Drawn[], judge: Judge, seed: number): Promise<number> {
  const target = await open({ kind: "lance", uri: folder }, { name: "local", folder });
  let files: readonly Migration[] = [];
  const options = {
    target,
    ledger: "_migrations",
    folder,
    migrations: { list: () => files, load: async ({ version }: { version: number }) => files[version - 1]! },
    computing: embed.computing,
    lease: { duration: 30_000, patience: 60_000 },
  };
  const named = drawn.map((one, at) => ({ ...one, table: `t${at}` }));
  const fits: typeof named = [];
  for (const one of named) {
    files = migrationsOf([one]);
    if (await plan(options).then(() => true, isRefusal)) fits.push(one);
  }
  files = migrationsOf(fits);
  for (const { table, values } of fits) {
    writeFileSync(join(folder, `${table}.bin`), serialize(values));
    writeFileSync(join(folder, `${table}.mjs`), codeOf(join(folder, `${table}.bin`)));
  }
  const check = async (when: string, rowsOf: (one: Drawn) => readonly RowValues[]) => {
    for (const one of fits) {
      const wrong = await judge.difference(join(folder, `${one.table}.lance`), rowsOf(one));
      if (wrong !== null) throw new Error(`seed ${seed}, ${one.table} ${when}: ${wrong}\n${JSON.stringify(one)}`);
    }
  };
  const all = ({ rows, inserted }: Drawn) => [...rows, ...inserted];
  const filled = (one: Drawn): readonly RowValues[] =>
    all(one).map((row, at) => ({ ...row, computed: one.values[at]! }));
  const first = ({ columns }: Drawn) => columns[2]!.name;
  const states = [
    ({ rows }: Drawn) => rows,
    all,
    filled,
    (one: Drawn) => filled(one).map((row) => omit(row, first(one))),
  ];
  for (const [at, rowsOf] of states.entries()) {
    await up(options, { to: at + 1 });
    await check(`after migration ${at + 1}`, rowsOf);
  }
  for (const [at, rowsOf] of states
    .slice(0, -1)
    .map((rowsOf, at) => [at, rowsOf] as const)
    .toReversed()) {
    await down(options, { to: at + 1 });
    await check(`back at migration ${at + 1}`, rowsOf);
  }
  await target.close();
  return fits.length;
}

function omit(row: RowValues, name: string): RowValues {
  return Object.fromEntries(Object.entries(row).filter(([key]) => key !== name));
}

function isRefusal(error: unknown): false {
  if (!isMigrateError(error) || error.outcome !== "refused") throw error;
  return false;
}

function migrationsOf(drawn: readonly (Drawn & { readonly table: string })[]): readonly Migration[] {
  const code = (table: string) => ({ from: ["name"], key: "key", with: `./${table}.mjs`, version: "1" });
  const steps: readonly ((one: (typeof drawn)[number]) => readonly Step[])[] = [
    ({ table, columns, rows }) => [{ kind: "createTable", table, columns: [...columns], rows }],
    ({ table, inserted }) => (inserted.length === 0 ? [] : [{ kind: "insertRows", table, rows: inserted, key: "key" }]),
    ({ table, computed: { type } }) => [
      { kind: "addColumn", table, name: "computed", type, nullable: true },
      { kind: "backfillColumn", table, path: "computed", ...code(table) },
    ],
    ({ table, columns }) => [{ kind: "dropColumn", table, path: formatPath([columns[2]!.name]) }],
  ];
  return steps.map((stepsOf, at) => aMigration(at + 1, drawn.flatMap(stepsOf)));
}

/** JSON would not keep all values. */
function codeOf(file: string): string {
  return `import { readFileSync } from "node:fs";
import { deserialize } from "node:v8";
const values = deserialize(readFileSync(${JSON.stringify(file)}));
export default (rows) => rows.map(({ name }) => values[Number(name)]);
`;
}

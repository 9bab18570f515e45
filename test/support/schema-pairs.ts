/** Pairs of databases drawn by fast-check, the second near the first; and answers to what nobody can tell. */
import type { DiffAnswer, Unsure } from "../../src/features/author/generate/diff-columns.ts";
import type { Diff } from "../../src/features/author/generate/diff-tables.ts";
import type { Column, DataType } from "../../src/schema/data-type.ts";
import { change, type Database, type Table } from "../../src/schema/table.ts";
import { tablesAfter } from "../../src/actions/apply-action.ts";
import { isMigrateError } from "../../src/errors/migrate-error.ts";
import { anyColumns, columnName, leafType, typeNear } from "./drawn-tables.ts";
import * as fc from "./fast-check.ts";

export interface Pair {
  readonly from: Database;
  readonly to: Database;
  /** Whether the first, the second, … question is answered with a name. */
  readonly answers: readonly boolean[];
}

const tableName = fc.constantFrom("t", "u", "v");

/** A database whose tables can be created. */
const database = fc
  .uniqueArray(fc.tuple(tableName, anyColumns), { minLength: 1, maxLength: 2, selector: ([name]) => name })
  .map((tables) => possible(tables))
  .filter((tables) => tables.size > 0);

function possible(tables: readonly (readonly [string, readonly Column[]])[]): Database {
  const all = new Map<string, Table>();
  for (const [table, columns] of tables)
    try {
      change(all, tablesAfter(all, { kind: "createTable", table, columns }));
    } catch (error) {
      if (!isMigrateError(error)) throw error;
    }
  return all;
}

/** Types near those that are there, other names, other nullability, columns more and fewer, in structs too. */
function near(columns: readonly Column[]): fc.Arbitrary<readonly Column[]> {
  const each = columns.map((column) =>
    fc
      .record({
        name: fc.oneof({ weight: 4, arbitrary: fc.constant(column.name) }, { weight: 1, arbitrary: columnName }),
        type: typeAround(column.type),
        nullable: fc.oneof({ weight: 3, arbitrary: fc.constant(column.nullable) }, fc.boolean()),
        stays: fc.integer({ min: 0, max: 9 }),
      })
      .map(({ stays, ...one }) => ({ ...one, stays: stays > 0, nullable: one.nullable || one.type.kind === "null" })),
  );
  const more = fc.array(fc.record({ name: columnName, type: leafType, nullable: fc.constant(true) }), { maxLength: 2 });
  return fc
    .tuple(fc.tuple(...each), more)
    .map(([kept, added]) => [
      ...kept.filter(({ stays }) => stays).map(({ name, type, nullable }) => ({ name, type, nullable })),
      ...added,
    ])
    .map(withoutTwins)
    .filter((all) => all.length > 0);
}

function typeAround(type: DataType): fc.Arbitrary<DataType> {
  const other =
    type.kind === "struct" ? near(type.fields).map((fields): DataType => ({ kind: "struct", fields })) : typeNear(type);
  return fc.oneof({ weight: 2, arbitrary: fc.constant(type) }, { weight: 1, arbitrary: other });
}

function withoutTwins(columns: readonly Column[]): readonly Column[] {
  const names = columns.map(({ name }) => name.toLowerCase());
  return columns.filter((_, at) => names.indexOf(names[at]!) === at);
}

function nearDatabase(from: Database): fc.Arbitrary<Database> {
  const tables = [...from].map(([name, { columns }]) =>
    fc.tuple(fc.oneof({ weight: 5, arbitrary: fc.constant(name) }, { weight: 1, arbitrary: tableName }), near(columns)),
  );
  return fc
    .tuple(...tables)
    .map((all) => possible(all.filter(([name], at) => all.findIndex(([other]) => other === name) === at)));
}

export const schemaPair: fc.Arbitrary<Pair> = database.chain((from) =>
  fc.record({
    from: fc.constant(from),
    to: fc.oneof({ weight: 4, arbitrary: nearDatabase(from) }, { weight: 1, arbitrary: database }),
    answers: fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }),
  }),
);

/** Asks until nothing is left to ask. */
export function answered(ask: (answers: readonly DiffAnswer[]) => Diff, yes: readonly boolean[]): Diff {
  const answers: DiffAnswer[] = [];
  for (let round = 0; round < 12; round++) {
    const diff = ask(answers);
    if (diff.unsure.length === 0) return diff;
    const taken = new Set(answers.map(({ name }) => name));
    for (const one of diff.unsure) answers.push(answerTo(one, yes[answers.length % yes.length]!, taken));
  }
  throw new Error("it asks without end");
}

function answerTo({ table, path, names }: Unsure, yes: boolean, taken: ReadonlySet<string | undefined>): DiffAnswer {
  const name = yes ? names.find((one) => !taken.has(one)) : undefined;
  return { table, path, ...(name !== undefined && { name }) };
}

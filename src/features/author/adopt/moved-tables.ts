/** Finds tables that something other than a migration may have renamed. */
import { undeclarable, type Adoption } from "./adopt-tables.ts";
import { areAlike } from "../generate/diff-tables.ts";
import type { DiffAnswer, Unsure } from "../generate/diff-columns.ts";
import { databaseOf, type Database, type Table } from "../../../schema/table.ts";
import type { Target } from "../../../targets/contract/target.ts";
import { isLedgers } from "./present-tables.ts";

interface MovedTables {
  /** The tables to which the answers say that tables of migrations were renamed, by their current names. */
  chosen(answers: readonly DiffAnswer[]): Database;
  /** The questions that are still open, those of the adoption included. */
  unsure(adoption: Adoption, answers: readonly DiffAnswer[]): readonly Unsure[];
}

/** `gone`: the missing tables of migrations. `known`: the names of all tables of migrations or with differences. */
export async function movedTables(
  gone: ReadonlyMap<string, Table>,
  known: ReadonlySet<string>,
  target: Target,
  ledger: string,
): Promise<MovedTables> {
  const there = gone.size === 0 ? new Map<string, Table>() : await unknownTables(known, target, ledger);
  const names = new Map(
    [...gone].map(([name, table]) => [name, [...there].flatMap(([other, is]) => (areAlike(table, is) ? [other] : []))]),
  );
  const isOf = ({ path, step }: DiffAnswer) => path === undefined && step === undefined;
  return {
    chosen(answers) {
      const chosen = new Set(answers.filter(isOf).map(({ name }) => name));
      return new Map([...there].filter(([name]) => chosen.has(name)));
    },
    unsure(adoption, answers) {
      const given = answers.filter((one) => isOf(one) && !adoption.unused.includes(one));
      const used = new Set(given.map(({ table }) => table));
      const asked = [...names].filter(([table, like]) => like.length > 0 && !used.has(table));
      const of = (table: string) => adoption.unsure.find((one) => one.table === table && one.path === undefined);
      const others = adoption.unsure.filter(
        (one) => one.path !== undefined || !asked.some(([table]) => table === one.table),
      );
      return [...others, ...asked.map(([table, like]) => ({ table, names: [...(of(table)?.names ?? []), ...like] }))];
    },
  };
}

/** The tables with unknown names that can be described and declared. */
async function unknownTables(
  known: ReadonlySet<string>,
  target: Target,
  ledger: string,
): Promise<ReadonlyMap<string, Table>> {
  const names = (await target.listTables()).filter((name) => !known.has(name) && !isLedgers(name, ledger));
  const found = new Map<string, Table>();
  for (const name of names.toSorted()) {
    if ((target.unreadable?.(name) ?? []).length > 0) continue;
    const table = (await target.describeTable(name, true))?.table;
    if (table !== undefined && undeclarable(databaseOf(new Map([[name, table]]))).length === 0) found.set(name, table);
  }
  return found;
}

import { expect, test } from "vitest";
import { follow } from "../../../../../src/actions/follow.ts";
import type { Action } from "../../../../../src/actions/model/action.ts";
import { tablesAfter, tablesOfAction } from "../../../../../src/actions/apply-action.ts";
import { problemIn } from "../../../../../src/errors/migrate-error.ts";
import { breaksOf } from "../../../../../src/features/contracts/check/broken-contracts.ts";
import { parseContract } from "../../../../../src/features/contracts/check/contract.ts";
import { contractOf } from "../../../../../src/features/contracts/write-contract.ts";
import { sequenceFor } from "../../../../../src/features/contracts/check/sequence.ts";
import { actionsOf } from "../../../../../src/plan/compile/compile.ts";
import { formatType, type Column } from "../../../../../src/schema/data-type.ts";
import {
  columnPaths,
  change,
  findColumn,
  type Database,
  type Table,
  type Tables,
} from "../../../../../src/schema/table.ts";
import { beginning, drafts, stepOf, type Draft } from "../../../../sequences/draw.ts";
import * as fc from "../../../../support/fast-check.ts";
import { rounds } from "../../../../support/rounds.ts";

const look = (database: Database, action: Action): Tables =>
  new Map(tablesOfAction(action).map((name) => [name, database.get(name)]));

/** The actions of a step that works on this database, each with its tables before and after; updates the database. */
function carryOut(draft: Draft, database: Map<string, Table>) {
  const copy = new Map(database);
  const done: { action: Action; before: Tables; after: Tables }[] = [];
  const problem = problemIn(() => {
    for (const action of actionsOf(stepOf(draft, copy), { describes: true })) {
      const before = look(copy, action);
      change(copy, tablesAfter(copy, action));
      done.push({ action, before, after: look(copy, action) });
    }
  });
  if (problem !== undefined) return [];
  change(database, copy);
  for (const name of database.keys()) if (!copy.has(name)) database.delete(name);
  return done;
}

/** What a reader of a column, or of a field, depends on. A struct may get more fields. */
function textOf(column: Column | undefined): string {
  if (column === undefined) return "gone";
  return `${column.type.kind === "struct" ? "struct" : formatType(column.type)} ${column.nullable}`;
}

test("a release whose contract no action breaks finds its columns after each action, and finds them refused otherwise", () => {
  let [kept, broken] = [0, 0];
  fc.assert(
    fc.property(beginning, drafts, (first, others) => {
      const database = new Map<string, Table>();
      carryOut(first, database);
      const start = new Map(database);
      const tables = Object.fromEntries([...start].map(([name, table]) => [name, contractOf(table)]));
      const contract = parseContract({ format: 1, application: "a", release: "1", tables }, "a.json");
      const actions: Action[] = [];
      for (const { action, before, after } of others.flatMap((draft) => carryOut(draft, database))) {
        actions.push(action);
        const found = breaksOf({ action, before, after }, [contract]);
        if (found.length > 0) {
          broken++;
          const place = { file: "0002_next.ts", step: 1 };
          expect(sequenceFor({ action, before, place }, ["a 1"], () => true).length).toBeGreaterThan(0);
          return;
        }
        kept++;
        for (const [table, { columns }] of start)
          for (const path of columnPaths(columns)) {
            expect(follow({ table, path }, actions)).toEqual({ table, path });
            const now = after.get(table)?.columns;
            if (now !== undefined) expect(textOf(findColumn(now, path))).toBe(textOf(findColumn(columns, path)));
          }
      }
    }),
    { numRuns: rounds(500, 20_000), seed: 25 },
  );
  expect(Math.min(kept, broken)).toBeGreaterThan(100);
});

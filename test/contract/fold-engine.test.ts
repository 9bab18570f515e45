/** What the fold makes of alterations, held against the engine itself. */
import * as fc from "../support/fast-check.ts";
import { expect, test } from "vitest";
import { isMigrateError } from "../../src/errors/migrate-error.ts";
import { applyAction } from "../support/fold.ts";
import type { Alteration } from "../../src/actions/model/alteration.ts";
import { childColumns, formatType, type Column, type DataType } from "../../src/schema/data-type.ts";
import { formatPath, type Path } from "../../src/schema/path.ts";
import type { Database } from "../../src/schema/table.ts";
import { alterColumns, connect, createEmptyTable, readColumns } from "../../src/engine/engine.ts";
import { engineProblem } from "../../src/engine/problem/engine-problem.ts";
import { anyColumns, columnName, typeNear } from "../support/drawn-tables.ts";
import { temporaryFolder } from "../support/project.ts";
import { rounds } from "../support/rounds.ts";

interface Place {
  readonly path: Path;
  readonly type: DataType;
}

/** Every column of a table, at any depth. */
function placesOf(columns: readonly Column[], parent: Path = []): readonly Place[] {
  return columns.flatMap(({ name, type }) => [
    { path: [...parent, name], type },
    ...placesOf(childColumns(type), [...parent, name]),
  ]);
}

function alteration({ path, type }: Place): fc.Arbitrary<Alteration> {
  // One change at a time more often than not: the fold refuses most of the others.
  return fc
    .oneof<fc.Arbitrary<Omit<Alteration, "path">>[]>(
      fc.record({ rename: columnName }),
      fc.record({ nullable: fc.boolean() }),
      fc.record({ type: typeNear(type) }),
      fc.record({ rename: columnName, type: typeNear(type), nullable: fc.boolean() }, { requiredKeys: ["rename"] }),
    )
    .map((one) => ({ path: formatPath(path), ...one }));
}

/** The database after the call, or undefined where the fold refuses it. */
function folded(database: Database, alterations: readonly Alteration[]): Database | undefined {
  try {
    return applyAction(database, { kind: "alterColumns", table: "t", alterations });
  } catch (error) {
    if (isMigrateError(error)) return undefined;
    throw error;
  }
}

const tables = anyColumns.filter(
  // The engine can't create these (test/unit/schema/declare/validate.test.ts).
  (columns) => !/fixedSizeList<fixedSizeList<struct/.test(columns.map(({ type }) => formatType(type)).join(" ")),
);

test("the engine takes what the fold takes, and makes the same table of it", async () => {
  const db = await connect({ uri: temporaryFolder() });
  let taken = 0;
  await fc.assert(
    fc.asyncProperty(tables, fc.gen(), async (columns, draw) => {
      const name = `t${(await db.tableNames()).length}`;
      await createEmptyTable(db, name, columns);
      const table = await db.openTable(name);
      let database = applyAction(new Map(), { kind: "createTable", table: "t", columns });
      expect(await readColumns(table)).toEqual(columns);
      for (let call = 0; call < 6; call++) {
        const places = placesOf(database.get("t")!.columns);
        const chosen = draw(fc.shuffledSubarray<Place>, [...places], {
          minLength: 1,
          maxLength: Math.min(3, places.length),
        });
        const alterations = chosen.map((place) => draw(alteration, place));
        const after = folded(database, alterations);
        if (after === undefined) continue;
        await alterColumns(table, alterations).catch((error: unknown) => {
          throw new Error(`${JSON.stringify(alterations)}: ${engineProblem(error)}`);
        });
        expect(await readColumns(table)).toEqual(after.get("t")!.columns);
        // Some tables have a schema that reads well and can't be queried any more.
        await table.query().analyzePlan();
        database = after;
        taken++;
      }
      await db.dropTable(name);
    }),
    { numRuns: rounds(75, 150) },
  );
  // Otherwise the property would hold by the fold's refusing everything.
  expect(taken).toBeGreaterThan(100);
});

/** What the crash matrix kills: for each step kind the tables before, their rows, and the migration that is pending. */
import { float32, int32, int64, largeUtf8, list, struct, utf8 } from "../../src/schema/builders.ts";
import { alterColumns, createTable, renameColumn, retypeColumn, setNullable } from "../../src/steps/index.ts";
import type { Step, StepName } from "../../src/steps/registry.ts";

export interface MatrixCase {
  readonly name: string;
  /** The migration that has been applied; without one the killed run is the first on an empty database. */
  readonly before?: readonly Step[];
  /** The migration that is pending. */
  readonly pending: readonly Step[];
}

/** In every case that has a table before. Two columns have equal types, so that a second swap would be seen in their values. */
export const table = "people";
const columns = {
  id: int32().notNull(),
  first: utf8(),
  last: utf8(),
  score: float32(),
  place: struct({ street: utf8(), town: utf8() }),
};
export const rows = Array.from({ length: 20 }, (_, id) => ({
  id,
  first: `first ${id}`,
  last: `last ${id}`,
  score: id / 4,
  place: { street: `street ${id}`, town: `town ${id}` },
}));

const before = [createTable(table, columns)];
const swap = alterColumns(table, [
  { path: "first", rename: "last" },
  { path: "last", rename: "first" },
]);

// A kind without an entry does not compile.
export const matrixCases: Readonly<Record<StepName, readonly MatrixCase[]>> = {
  createTable: [
    { name: "first of all", pending: [createTable("orders", { id: int64().notNull(), tags: list(utf8()) })] },
    { name: "beside another", before, pending: [createTable("orders", { id: int64().notNull(), tags: list(utf8()) })] },
  ],
  renameColumn: [
    { name: "column", before, pending: [renameColumn(table, "first", "given")] },
    { name: "nested field", before, pending: [renameColumn(table, "place.town", "city")] },
  ],
  retypeColumn: [
    { name: "wider", before, pending: [retypeColumn(table, "id", int64())] },
    {
      name: "there and back",
      before,
      pending: [retypeColumn(table, "id", int64()), retypeColumn(table, "id", int32())],
    },
  ],
  setNullable: [
    { name: "false", before, pending: [setNullable(table, "last", false)] },
    { name: "true", before, pending: [setNullable(table, "id", true)] },
  ],
  alterColumns: [
    { name: "swap", before, pending: [swap] },
    { name: "swap three times", before, pending: [swap, swap, swap] },
    {
      name: "rename, retype and nullable",
      before,
      pending: [
        alterColumns(table, [
          { path: "first", rename: "given", type: largeUtf8() },
          { path: "id", nullable: true },
        ]),
      ],
    },
  ],
};

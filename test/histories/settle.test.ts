import { expect, test } from "vitest";
import type { RowState } from "./rows.ts";
import { settle } from "./settle.ts";
import { numbered, type World } from "./shapes.ts";
import { valueOf } from "./values.ts";

const id = { name: "id", type: { kind: "int64" }, nullable: false } as const;
const columns = numbered([id]);
const world = (name: string): World => new Map([[name, { number: 7, columns, table: { columns: [id] } }]]);

const one: RowState = { cells: { [columns[0]!.number]: valueOf(1, id.type) }, kept: {} };
const start = { world: world("v"), known: new Map([[7, new Map([["1", [one]]])]]), migrations: 0 };
/** The rollback renames table v to u. */
const keeps = [{ world: world("u"), change: () => (state: RowState) => [state], brings: [] }];
const loses = [{ ...keeps[0]!, change: () => () => [{ cells: null, kept: {} }] }];
const settledWith = (accepted: string) =>
  settle(
    { error: undefined, writes: [], accepted: [accepted] },
    start,
    new Map([["u", { columns: [id], rows: [] }]]),
    keeps,
    1,
    { stages: loses, isAccepted: true },
  );

test.each(["1 row of u was written since", "1 row of v was written since"])(
  "a loss is stated under the name that a table has before or after the run: %s",
  (stated) => {
    expect(settledWith(stated).notes).toEqual(["losses that were accepted or stated"]);
  },
);

test("a loss of another table does not state it", () => {
  expect(() => settledWith("1 row of w was written since")).toThrow("what u lost was not said");
});

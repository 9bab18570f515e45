import { expect, test } from "vitest";
import { metadataToReset } from "../../../../src/plan/reconcile/lost-metadata.ts";
import type { Action } from "../../../../src/actions/model/action.ts";
import { columnsOf, int32, int64 } from "../../../../src/schema/declare/type-builders.ts";
import type { Column } from "../../../../src/schema/data-type.ts";

const swap: Action = {
  kind: "alterColumns",
  table: "t",
  alterations: [
    { path: "a", rename: "b" },
    { path: "b", rename: "a" },
  ],
};
const [a, b] = columnsOf({ a: int64(), b: int32() }) as [Column, Column];
const marked = (column: Column): Column => ({ ...column, metadata: { source: "form" } });
const swapped = [
  { ...a, name: "b" },
  { ...b, name: "a" },
];

test("what the commit of the call lost is set again, by the new names", () => {
  const [before, after] = [{ columns: [marked(a), b] }, { columns: swapped }];
  expect(metadataToReset(swap, before, after, after)).toEqual([{ path: "b", metadata: { source: "form" } }]);
});

test("what others have set since the commit stays", () => {
  const [before, after] = [{ columns: [marked(a), b] }, { columns: swapped }];
  const now = { columns: [{ ...swapped[0]!, metadata: { source: "theirs" } }, swapped[1]!] };
  expect(metadataToReset(swap, before, after, now)).toEqual([]);
});

test("a commit of another table is not the call's, and nothing is set on that table", () => {
  // The table was recreated as the call had left it, and somebody appended to it.
  const table = { columns: [marked(swapped[0]!), swapped[1]!] };
  expect(metadataToReset(swap, table, table, table)).toEqual([]);
});

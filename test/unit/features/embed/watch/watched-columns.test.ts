import { expect, test } from "vitest";
import type { Action } from "../../../../../src/actions/model/action.ts";
import { columnsPutBack, watchedColumns } from "../../../../../src/features/embed/watch/watched-columns.ts";

const how = { table: "docs", path: "embedding", from: ["text"], key: "id", with: "./embed.ts", version: "2" };
const switched: readonly Action[] = [
  { ...how, kind: "switchColumn", type: { kind: "int32" }, keep: "embedding_old" },
  { ...how, kind: "catchUpColumn", keep: "embedding_old" },
];

function placesAfter(...actions: readonly Action[]) {
  return watchedColumns([...switched, ...actions]).map(({ table, path, keep }) => [table, path, keep]);
}

test("a column is watched from its switch on, under the names that it and the old column have then", () => {
  expect(placesAfter()).toEqual([["docs", "embedding", "embedding_old"]]);
  expect(
    placesAfter(
      { kind: "renameTable", table: "docs", name: "pages" },
      { kind: "alterColumns", table: "pages", alterations: [{ path: "embedding_old", rename: "was" }] },
      { kind: "alterColumns", table: "pages", alterations: [{ path: "embedding", rename: "vector" }] },
      { kind: "dropColumns", table: "pages", paths: ["text"] },
      { kind: "dropColumns", table: "docs", paths: ["was"] },
    ),
  ).toEqual([["pages", "vector", "was"]]);
});

test("it is known that a column was renamed or dropped that its values are computed from, or that identifies rows", () => {
  const lostAfter = (...actions: readonly Action[]) =>
    watchedColumns([...switched, ...actions]).map(({ lost }) => lost);
  const rename = (path: string, to: string): Action => ({
    kind: "alterColumns",
    table: "docs",
    alterations: [{ path, rename: to }],
  });
  expect(lostAfter(rename("other", "others"))).toEqual([undefined]);
  expect(lostAfter(rename("text", "body"), rename("body", "text"))).toEqual(["text"]);
  expect(lostAfter(rename("id", "number"))).toEqual(["id"]);
  expect(lostAfter({ kind: "dropColumns", table: "docs", paths: ["text"] })).toEqual(["text"]);
});

test.each<readonly [string, Action]>([
  ["the old column is dropped", { kind: "dropColumns", table: "docs", paths: ["embedding_old"] }],
  ["it is dropped itself", { kind: "dropColumns", table: "docs", paths: ["embedding"] }],
  ["its table is dropped", { kind: "dropTable", table: "docs" }],
  ["another column takes its place", { ...how, kind: "switchColumn", type: { kind: "int32" }, keep: "embedding_2" }],
])("it is not watched any more when %s", (_, action) => {
  expect(placesAfter(action)).toEqual([]);
});

test("of several switches of a column that are rolled back, the first one has put it back", () => {
  const down = (version: string) => ({ with: "./old.ts", version });
  const [first] = switched;
  const one = { ...first, down: down("1") } as Action;
  const two = { ...first, keep: "embedding_2", down: down("2") } as Action;
  const other = { ...two, path: "title" } as Action;
  const found = (...actions: readonly Action[]) =>
    columnsPutBack(actions, "0001").map(({ path, keep, version }) => [path, keep, version]);
  expect(found(one, two, other)).toEqual([
    ["embedding", "embedding", "1"],
    ["title", "title", "2"],
  ]);
  // Without code for the old values, nothing can compute them.
  expect(found(first!, two)).toEqual([]);
});

import { expect, test } from "vitest";
import { columnNameProblem, similarName, tableNameProblem } from "../../../src/schema/names.ts";

test.each([
  ["", "is empty"],
  ["a.b", "holds a dot"],
  [".", "holds a dot"],
  ["a`b", "holds a backtick"],
  ["a\nb", "holds a control character"],
  ["a\u0000", "holds a control character"],
  ["\u007f", "holds a control character"],
  ["_rowid", "is reserved by the engine"],
  ["_rowaddr", "is reserved by the engine"],
  ["_rowoffset", "is reserved by the engine"],
  ["_distance", "is the name of a column that a search adds"],
  ["_score", "is the name of a column that a search adds"],
  ["_relevance_score", "is the name of a column that a search adds"],
  ["_row_created_at_version", "is reserved by the engine"],
  ["_row_last_updated_at_version", "is reserved by the engine"],
])("the column name %j is refused: it %s", (name, problem) => {
  expect(columnNameProblem(name)).toMatch(new RegExp(`^${problem}`));
});

// Measured: the engine takes these and the table stays readable.
test.each(["a", "1st", "with space", "Größe", "🙂", '"', "'", "_row", "_rowID", "_distances", "a-b", "x".repeat(5000)])(
  "the column name %j is taken",
  (name) => {
    expect(columnNameProblem(name)).toBeUndefined();
  },
);

test.each([
  ["", "is empty"],
  [".", "is a folder's name"],
  ["..", "is a folder's name"],
  ["x".repeat(250), "is longer than 249 characters"],
  ["a b", "may hold only"],
  ["a/b", "may hold only"],
  ["a\\b", "may hold only"],
  ["a$b", "may hold only"],
  ["größe", "may hold only"],
  ["a\n", "may hold only"],
])("the table name %j is refused: it %s", (name, problem) => {
  expect(tableNameProblem(name)).toMatch(new RegExp(`^${problem}`));
});

test.each(["a", "_x", ".x", "-x", "a..b", "a.b", "__schema_migrations", "x".repeat(249)])(
  "the table name %j is taken",
  (name) => {
    expect(tableNameProblem(name)).toBeUndefined();
  },
);

test.each([
  ["documnets", "documents"],
  ["Documents", "documents"],
  ["document", "documents"],
  ["author", "authors"],
  ["DOCUMENTS_", "documents"],
])("%s is near %s", (name, similar) => {
  expect(similarName(name, ["authors", "documents"])).toBe(similar);
});

test.each(["users", "", "doc", "documents_of_authors"])("%j is near none of the known names", (name) => {
  expect(similarName(name, ["authors", "documents"])).toBeUndefined();
});

test("the nearest of several near names is the one", () => {
  expect(similarName("x", ["a", "X"])).toBe("X");
  expect(similarName("x", ["a"])).toBeUndefined();
  expect(similarName("renamColumn", ["renameColumns", "renameColumn", "removeColumn"])).toBe("renameColumn");
});

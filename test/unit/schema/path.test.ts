import * as fc from "../../support/fast-check.ts";
import { expect, test } from "vitest";
import { formatPath, parsePath, restOf } from "../../../src/schema/path.ts";

test.each<[string, readonly string[]]>([
  ["a", ["a"]],
  ["a.b.c", ["a", "b", "c"]],
  ["`a.b`.c", ["a.b", "c"]],
  ["a.`b.c`", ["a", "b.c"]],
  ["`a`.`b`", ["a", "b"]],
  ["`a``b`", ["a`b"]],
  ["`a.``.b`", ["a.`.b"]],
  ["with space.Größe", ["with space", "Größe"]],
])("the path %j means %j", (text, names) => {
  expect(parsePath(text)).toEqual(names);
});

test.each([
  ["", "has an empty part"],
  [".", "has an empty part"],
  ["a.", "has an empty part"],
  [".a", "has an empty part"],
  ["a..b", "has an empty part"],
  ["``", "has an empty part"],
  ["a.``", "has an empty part"],
  ["`a", "has a backtick that is not closed"],
  ["`a``", "has a backtick that is not closed"],
  ["a`b", "has a backtick inside a name"],
  ["`a`b", "continues after a closing backtick"],
])("the path %j is refused: it %s", (path, problem) => {
  expect(() => parsePath(path)).toThrow(
    expect.objectContaining({ code: "ERR_PATH_INVALID", details: { path, problem } }),
  );
});

test("only names that need it are quoted", () => {
  expect(formatPath(["a", "b.c", "d`e", "f g"])).toBe("a.`b.c`.`d``e`.f g");
});

test("a path that was written reads back as the same names", () => {
  const name = fc.oneof(fc.string({ minLength: 1 }), fc.string({ minLength: 1, unit: fc.constantFrom("a", ".", "`") }));
  fc.assert(
    fc.property(fc.array(name, { minLength: 1, maxLength: 4 }), (names) => {
      expect(parsePath(formatPath(names))).toEqual(names);
    }),
  );
});
test("the rest of a path is what it has after its beginning", () => {
  expect([restOf(["a", "b"], ["a"]), restOf(["a"], ["a"]), restOf(["a"], ["a", "b"]), restOf(["b"], ["a"])]).toEqual([
    ["b"],
    [],
    undefined,
    undefined,
  ]);
});

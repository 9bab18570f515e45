import { describe, expect, test } from "vitest";
import {
  exactObject,
  filledText,
  allOf,
  isNumber,
  isObject,
  listOf,
  must,
  objectWith,
  oneOf,
  onlyKeys,
  optional,
  recordOf,
  seconds,
  text,
  textThat,
  wholeNumber,
  yesOrNo,
  type Check,
} from "../../../src/checks/check.ts";

const wrong = "is wrong";

describe("a value is accepted or refused:", () => {
  test.each<readonly [string, Check, readonly unknown[], readonly unknown[]]>([
    ["a text", text(wrong), ["", "a"], [undefined, null, 5, new String("a"), ["a"]]],
    ["a filled text", filledText(wrong), ["a", " "], ["", undefined, 5]],
    ["a text that fits", textThat((value) => value.length < 3, wrong), ["", "ab"], ["abc", [], undefined]],
    ["a switch", yesOrNo, [true, false], ["true", 1, 0, null, undefined]],
    ["a word", oneOf(["a", "b"], wrong), ["a"], ["c", "", undefined, ["a"], "toString"]],
    ["a whole number", wholeNumber(0, wrong), [0, 7, 2 ** 53 - 1], [-1, 0.5, NaN, Infinity, 2 ** 53, "7", 7n]],
    ["seconds", seconds(0.1), [0.1, 5, 86_400], [0, -1, 86_401, NaN, Infinity, "5", null]],
    ["an optional text", optional(text(wrong)), ["a", undefined], [null, 5]],
    ["a list", listOf(text(wrong), wrong), [[], ["a"]], [[5], "a", { 0: "a", length: 1 }, undefined]],
    ["a record", recordOf(text(wrong), wrong), [{}, { a: "b" }, Object.create(null)], [[], null, new Map(), { a: 5 }]],
    ["an object", objectWith({ a: text(wrong) }, wrong), [{ a: "b" }, { a: "b", c: 5 }], [{}, { a: 5 }, null, [], "a"]],
    ["an exact object", exactObject({ a: text(wrong) }, wrong), [{ a: "b" }], [{ a: "b", c: 5 }, {}, [], () => ({})]],
    ["keys", onlyKeys(["a"]), [{}, { a: 1 }], [{ b: 1 }, { a: 1, toString: 2 }]],
  ])("%s", (_, check, right, refused) => {
    expect(right.map(check)).toEqual(right.map(() => []));
    expect(refused.filter((value) => check(value).length === 0)).toEqual([]);
  });
});

describe("a problem", () => {
  const check = exactObject(
    { list: listOf(text("must be a text"), "must be a list"), inner: optional(exactObject({ a: yesOrNo }, wrong)) },
    "must be an object",
  );

  test("has the path to the wrong part", () => {
    expect(check({ list: ["a", 5, 6], inner: { a: 7 } })).toEqual([
      { path: ["list", 1], message: "must be a text" },
      { path: ["list", 2], message: "must be a text" },
      { path: ["inner", "a"], message: "must be true or false" },
    ]);
    expect(check(undefined)).toEqual([{ path: [], message: "must be an object" }]);
  });

  test("of an unknown key has the keys that are known beside it", () => {
    expect(check({ list: [], inner: { a: true, b: 1 }, lists: [] })).toMatchObject([
      { path: ["inner"], unknown: { key: "b", known: ["a"] } },
      { path: [], unknown: { key: "lists", known: ["list", "inner"] } },
    ]);
  });

  test("is that of the first check that finds one", () => {
    const both = allOf(
      text("must be a text"),
      must((value) => value === "a", "must be a"),
    );
    expect([both(5), both("b"), both("a")]).toEqual([
      [{ path: [], message: "must be a text" }],
      [{ path: [], message: "must be a" }],
      [],
    ]);
  });
});

test("a member that an object only inherits is none of its own", () => {
  expect(exactObject({ toString: text(wrong) }, wrong)({ toString: "a" })).toEqual([]);
  expect(exactObject({}, wrong)(Object.create({ inherited: 1 }))).toEqual([]);
});

test("lists, null and numbers without a value are told apart", () => {
  expect([{}, [], null, "a"].map(isObject)).toEqual([true, false, false, false]);
  expect([0, -1.5, NaN, Infinity, "1"].map(isNumber)).toEqual([true, true, false, false, false]);
});

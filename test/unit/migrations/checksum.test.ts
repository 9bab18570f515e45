import { expect, test } from "vitest";
import {
  canonicalJson,
  checksumOf,
  matchesHash,
  sha256,
  stepHash,
  textHash,
} from "../../../src/migrations/checksum.ts";
import { int64, timestamp, utf8 } from "../../../src/schema/declare/type-builders.ts";
import { createTable, renameColumn, retypeColumn, setNullable } from "../../../src/steps/index.ts";

const steps = [
  createTable("documents", { id: int64().notNull(), title: utf8() }),
  renameColumn("documents", "title", "headline"),
];

test("line ends and a byte order mark are no part of a text's hash", () => {
  const hash = textHash("one\ntwo\n");
  expect(textHash("one\r\ntwo\r\n")).toBe(hash);
  expect(textHash("\uFEFFone\ntwo\n")).toBe(hash);
  expect(textHash("\uFEFFone\r\ntwo\n")).toBe(hash);
});

test.each(["one\ntwo", "one\n\ntwo\n", "one\ntwo \n", "One\ntwo\n", "one two\n"])(
  "the text %j has another hash",
  (text) => {
    expect(textHash(text)).not.toBe(textHash("one\ntwo\n"));
  },
);

test.each([
  ["ab12", true],
  ["ab", true],
  ["b1", false],
  ["", false],
  [undefined, false],
])("of the hash ab12, the stored %j is the beginning: %j", (stored, expected) => {
  expect(matchesHash("ab12", stored)).toBe(expected);
});

test("a hash is SHA-256 in hex", () => {
  expect(sha256("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
});

test.each<[unknown, string]>([
  [{ b: 1, a: 2 }, '{"a":2,"b":1}'],
  [{ a: undefined, b: null }, '{"b":null}'],
  [[3, [], {}, "é\n"], '[3,[],{},"é\\n"]'],
  [{ a: { d: 1, c: [{ f: 1, e: 2 }] } }, '{"a":{"c":[{"e":2,"f":1}],"d":1}}'],
  [[undefined], "[null]"],
  [{ ä: 1, z: 2, Z: 3, "10": 4, "9": 5 }, '{"10":4,"9":5,"Z":3,"z":2,"ä":1}'],
])("%j has one canonical text", (value, text) => {
  expect(canonicalJson(value)).toBe(text);
});

test("a checksum does not depend on the order of a step's keys, on absent keys, or on the builder", () => {
  const byHand = [
    {
      columns: [
        { nullable: false, type: { kind: "int64" }, name: "id" },
        { nullable: true, name: "title", type: { kind: "utf8", zone: undefined } },
      ],
      table: "documents",
      kind: "createTable",
    },
    { name: "headline", path: "title", table: "documents", kind: "renameColumn" },
  ];
  expect(checksumOf(byHand)).toBe(checksumOf(steps));
});

// The ledgers of everyone hold this value: another one means that every applied migration seems changed.
test("the checksum of a migration is the same in every release", () => {
  expect(checksumOf(steps)).toBe("9bcd897d3b516b14b0954f8973cc6e638959a3243acde6a5b3bcc5b46599cf81");
});

test.each<[string, readonly unknown[]]>([
  ["a name", [steps[0], renameColumn("documents", "title", "Headline")]],
  ["the order of steps", steps.toReversed()],
  ["a step more", [...steps, setNullable("documents", "headline", false)]],
  ["a step less", [steps[0]]],
  ["the order of columns", [createTable("documents", { title: utf8(), id: int64().notNull() }), steps[1]]],
  ["nullability", [createTable("documents", { id: int64(), title: utf8() }), steps[1]]],
])("a checksum changes with %s", (_, changed) => {
  expect(checksumOf(changed)).not.toBe(checksumOf(steps));
});

test("a checksum tells a zone from none", () => {
  const [one, other] = [timestamp("us"), timestamp("us", "UTC")].map((type) => retypeColumn("t", "a", type));
  expect(checksumOf([one])).not.toBe(checksumOf([other]));
});

test("a step's hash is short and its own", () => {
  const hashes = steps.map(stepHash);
  expect(new Set(hashes).size).toBe(2);
  for (const hash of hashes) expect(hash).toMatch(/^[0-9a-f]{16}$/);
  expect(stepHash({ ...steps[1] })).toBe(hashes[1]);
});

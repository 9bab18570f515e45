import { expect, test } from "vitest";
import { checksumOf, shortHash } from "../../../src/migrations/checksum.ts";
import { formatFormer, formerIn, formerProblem, namesEver, parseFormer } from "../../../src/migrations/former-names.ts";

const sum = (digit: string) => digit.repeat(16);

test("a list of former names states what an item became", () => {
  const text = `export const replaces = [\n  "0001_a ${sum("1")} became 0002_one",\n  "0002_one ${sum("2")}",\n];\n`;
  const replaces = [
    { version: 1, name: "a", checksum: sum("1"), became: "0002_one" },
    { version: 2, name: "one", checksum: sum("2") },
  ];
  expect(formerIn(text)).toStrictEqual({ replaces });
  expect(replaces.map(formatFormer).flatMap(parseFormer)).toStrictEqual(replaces);
});

test.each([
  `0001_a ${sum("1")} became`,
  `0001_a ${sum("1")} became one`,
  `0001_a ${sum("1")} became 0002_one, 0003_two`,
  `0001_a ${sum("1")}  became 0002_one`,
])("%s is no former name", (text) => {
  expect(parseFormer(text)).toEqual([]);
});

test("what an item became must come later in the list, and only replaces may state it", () => {
  const [one, two] = [`0001_a ${sum("1")} became 0002_b`, `0002_b ${sum("2")}`].flatMap(parseFormer);
  expect(formerProblem("replaces", [one!, two!])).toBeUndefined();
  expect(formerProblem("replaces", [two!, one!])).toBe(
    "exports replaces, which states that 0001_a became 0002_b, and no later item of the list is 0002_b; restore the list as it was written",
  );
  expect(formerProblem("replaces", [one!])).toBe(
    "exports replaces, which states that 0001_a became 0002_b, and no later item of the list is 0002_b; restore the list as it was written",
  );
  expect(formerProblem("was", [one!, two!])).toBe(
    "exports was, which states that 0001_a became 0002_b, as only replaces may",
  );
});

test("a squash lists each migration after all by which a database may know it", () => {
  const ran = [{ kind: "dropTable", table: "t" }];
  const old = shortHash(checksumOf(ran));
  const migrations = [
    {
      version: 2,
      name: "one",
      checksum: sum("2"),
      replaces: [`0001_a ${sum("1")} became 0002_b`, `0002_b ${sum("1")}`].flatMap(parseFormer),
    },
    {
      version: 7,
      name: "x",
      checksum: sum("7"),
      was: [`0003_x ${old}`, `0005_x ${sum("5")}`, `0005_x ${old}`].flatMap(parseFormer),
      ran: [ran],
    },
    { version: 8, name: "c", checksum: sum("8") },
  ];
  expect(namesEver(migrations)).toEqual([
    `0001_a ${sum("1")} became 0002_b`,
    `0002_b ${sum("1")} became 0002_one`,
    `0002_one ${sum("2")}`,
    `0003_x ${old} became 0005_x`,
    `0005_x ${sum("5")} became 0007_x`,
    `0005_x ${old} became 0007_x`,
    `0007_x ${sum("7")}`,
    `0007_x ${old}`,
    `0008_c ${sum("8")}`,
  ]);
});

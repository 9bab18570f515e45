import * as fc from "../../../support/fast-check.ts";
import { describe, expect, test } from "vitest";
import { parsePlainly } from "../../../../src/main/arguments/parse-plainly.ts";
import { parseWithYargs } from "../../../../src/main/arguments/parse-with-yargs.ts";
import { flagsOf } from "../../../../src/cli/command/command.ts";
import { commandNames, loadCommand } from "../../../../src/main/commands/registry.ts";
import { rounds } from "../../../support/rounds.ts";

const switches = ["json", "quiet", "verbose", "dry-run"];
const texts = ["target", "to", "accept", "timeout", "config"];
const plain = ["local", "3", "0003", "1.5", "lossy,irreversible", "./a.ts", "true", "false"];
const odd = [
  "-1",
  "",
  '"a"',
  "'b'",
  "a b",
  "--",
  "-q",
  "-v",
  "-t",
  "-qv",
  "-qvt",
  "-tq",
  "-c=a",
  "--q",
  "--help",
  "-h",
  "--no-json",
  "--no-color",
  "--nothing",
  "--jsn",
];
const words = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...switches).map((name) => [`--${name}`]) },
  {
    weight: 6,
    arbitrary: fc
      .tuple(fc.constantFrom(...texts), fc.constantFrom(...plain))
      .map(([name, value]) => [`--${name}`, value]),
  },
  {
    weight: 6,
    arbitrary: fc
      .tuple(fc.constantFrom(...texts), fc.constantFrom(...plain))
      .map(([name, value]) => [`--${name}=${value}`]),
  },
  { weight: 1, arbitrary: fc.constantFrom(...odd, ...plain).map((word) => [word]) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom(...switches, ...texts), fc.constantFrom(...odd))
      .map(([name, value]) => [`--${name}=${value}`]),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom(...switches, ...texts), fc.constantFrom(...odd))
      .map(([name, value]) => [`--${name}`, value]),
  },
);
const line = fc.tuple(
  fc.constantFrom("up", ...commandNames),
  fc.array(words, { maxLength: 4 }).map((all) => all.flat()),
);

test("what is parsed plainly is parsed by yargs in the same way", async () => {
  let compared = 0;
  await fc.assert(
    fc.asyncProperty(line, async ([name, words]) => {
      const given = await parsePlainly([name, ...words]);
      if (given === undefined) return;
      compared += words.length;
      const other = await parseWithYargs([name, ...words]);
      const flags = Object.keys(flagsOf(given.command));
      const typed = flags.map((flag) => [flag, other?.typed[flag]]).filter(([, value]) => value !== undefined);
      expect(given).toEqual({ command: other?.command, typed: Object.fromEntries(typed) });
    }),
    { numRuns: rounds(200, 2_000) },
  );
  expect(compared).toBeGreaterThan(60);
});

describe("plain words", () => {
  test.each([
    [["up"], {}],
    [["up", "--json", "--to", "3"], { json: true, to: "3" }],
    [["up", "--target=local", "--dry-run"], { target: "local", "dry-run": true }],
    [["up", "-q", "-t", "local"], { quiet: true, target: "local" }],
    [["up", "--no-color", "--by", "Ada L."], { color: false, by: "Ada L." }],
  ])("%j", async (words, typed) => {
    expect(await parsePlainly(words)).toEqual({ command: await loadCommand("up"), typed });
  });

  test.each([
    [[]],
    [["--json", "up"]],
    [["up", "extra"]],
    [["up", "-qv"]],
    [["up", "--by", "-"]],
    [["plan", "--out=-"]],
    [["up", "-q", "-q"]],
    [["up", "-tlocal"]],
    [["up", "-t=local"]],
    [["up", "--json=true"]],
    [["up", "--json", "true"]],
    [["up", "--json", "--json"]],
    [["up", "--target"]],
    [["up", "--target", "--json"]],
    [["up", '--target="a"']],
    [["up", "--nothing"]],
    [["up", "--constructor"]],
    [["new", "--name", "x"]],
    [["toString"]],
  ])("yargs parses %j", async (words) => {
    expect(await parsePlainly(words)).toBeUndefined();
  });
});

import { describe, expect, test } from "vitest";
import { parseArguments } from "../../../../src/main/arguments/parse-arguments.ts";
import { loadCommand } from "../../../../src/main/commands/registry.ts";

describe("words are flags, their values, and the argument of the command", () => {
  test.each([
    [["up"], {}],
    [["up", "--json", "--to", "3"], { json: true, to: "3" }],
    [["up", "--target=local", "--dry-run"], { target: "local", "dry-run": true }],
    [["--json", "up"], { json: true }],
    [["-t", "local", "up"], { target: "local" }],
    [["--to", "3", "up"], { to: "3" }],
    [["-qt", "local", "up"], { quiet: true, target: "local" }],
    [["up", "-qvt", "local"], { quiet: true, verbose: true, target: "local" }],
    [["up", "-t=local", "--c", "a.ts"], { target: "local", config: "a.ts" }],
    [["up", "--no-color", "--json=false"], { color: false, json: false }],
    [["--no-q", "up", "--verbose", "true"], { quiet: false, verbose: true }],
    [["up", "--to", "1", "--to=2"], { to: ["1", "2"] }],
    [["up", "--to", "-1", "--by=a=b"], { to: "-1", by: "a=b" }],
    [["up", "--target", "--json"], { target: "", json: true }],
    [["up", "--target"], { target: "" }],
    [["up", "--no-target"], { target: false }],
    [["up", '--target="a"', "--by", "'b c'"], { target: "a", by: "b c" }],
    [["up", "--"], {}],
    [["new", "a", "--rename", "t.a:b"], { name: "a", rename: "t.a:b" }],
    [["resolve", "--rolled-back", "6"], { reverted: "6" }],
  ])("%j", async (words, typed) => {
    const name = words.find((word) => ["up", "new", "resolve"].includes(word))!;
    expect(await parseArguments(words)).toEqual({ command: await loadCommand(name), typed });
  });
});

describe("what is wrong is explained", () => {
  test.each([
    [[], "give a command, such as migrate up; see migrate --help"],
    [["--quiet"], "give a command, such as migrate up; see migrate --help"],
    [["stauts", "--json"], "there is no command stauts; did you mean status?"],
    [["toString"], "there is no command toString; see migrate --help"],
    [["extra", "up"], "there is no command extra; see migrate --help"],
    [["up", "extra", "--nothing", "x"], "unknown flag or argument: extra, nothing; see migrate up --help"],
    [["up", "-"], "unknown flag or argument: -; see migrate up --help"],
    [["up", "-x"], "unknown flag or argument: x; see migrate up --help"],
    [["up", "--constructor"], "unknown flag or argument: constructor; see migrate up --help"],
    [["new", "a", "b"], "unknown flag or argument: b; see migrate new --help"],
    [["up", "--no-jsn"], "there is no flag --jsn; did you mean --json?"],
    [["new", "--rename-column", "t.a:b"], "there is no flag --rename-column; did you mean --rename?"],
    [
      ["new", "--bundle=a"],
      "migrate new takes no --bundle; only commands that compare migrations with a database do; see migrate new --help",
    ],
    [["up", "--json", "-v", "--no-json"], "--json is given twice"],
    [["up", "-v", "--verbose"], "--verbose is given twice"],
    [["up", "--dry-run=yes"], "--dry-run takes no value"],
    [["up", "--json", "--", "0001"], "unknown argument behind --: 0001; see migrate --help"],
  ])("%j", async (words, problem) => {
    await expect(parseArguments(words)).rejects.toMatchObject({ code: "ERR_USAGE", message: problem });
  });
});

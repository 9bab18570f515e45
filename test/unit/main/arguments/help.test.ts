/** The text of help, and that its examples can be typed. */
import { describe, expect, test } from "vitest";
import { helpAbout } from "../../../../src/main/arguments/help.ts";
import { parseWithYargs } from "../../../../src/main/arguments/parse-with-yargs.ts";
import { flagsOf } from "../../../../src/cli/command/command.ts";
import { parseFlags } from "../../../../src/cli/command/flags.ts";
import { commandNames, loadCommands } from "../../../../src/main/commands/registry.ts";

/** The words of a line, as a shell gives them to a program. */
function wordsOf(line: string): readonly string[] {
  return [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!);
}

const commands = await loadCommands();
const examples = commands.flatMap((command) => command.examples.map(([line]) => ({ command, line })));

describe("examples", () => {
  test.each(examples)("$line is a valid command", async ({ command, line }) => {
    const [program, ...args] = wordsOf(line);
    const given = await parseWithYargs(args);
    expect([program, given.command]).toEqual(["migrate", command]);
    expect(() => parseFlags(flagsOf(command), given.typed, command.conflicts)).not.toThrow();
  });

  test("each fits in one line, so that it can be copied", () => {
    expect(examples.filter(({ line }) => line.length > 78)).toEqual([]);
  });
});

describe.each([40, 80])("in %i columns", (columns) => {
  test.each(["", ...commandNames])("help about %j keeps within them, apart from long words", async (name) => {
    const lines = (await helpAbout([name], columns)).split("\n");
    const long = lines.filter((line) => line.length > columns && line.trim().includes(" "));
    // A flag with its value may fill most of a line.
    expect(long.filter((line) => !/^ *(-|migrate )/.test(line))).toEqual([]);
  });
});

test("a flag shows what its value is, and a long one has its explanation below it", async () => {
  const help = await helpAbout(["up"], 80);
  expect(help).toContain("\n      --to NUMBER ");
  expect(help).toContain("\n      --accept lossy|irreversible\n");
  expect(help).toContain("\n  -t, --target TARGET ");
});

test("help lists the exit codes that mean more for this command", async () => {
  expect(await helpAbout(["types"], 80)).toContain(
    "\n\nExit codes:\n  3     with --check: a file is missing or out of date\n\nFlags of all commands:\n",
  );
  expect(await helpAbout(["up"], 80)).not.toContain("Exit codes");
});

test("the commands that compare migrations with a database can read them from a bundle", () => {
  const reading = commands.filter(({ flags }) => "bundle" in flags).map(({ name }) => name);
  expect(reading.toSorted()).toEqual([
    "baseline",
    "blame",
    "down",
    "plan",
    "prepare",
    "rehearse",
    "repair",
    "report",
    "resolve",
    "status",
    "up",
    "verify",
  ]);
});

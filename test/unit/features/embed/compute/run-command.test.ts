import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { FillFailed } from "../../../../../src/features/embed/calls/fill-failed.ts";
import { startCommand } from "../../../../../src/features/embed/compute/run-command.ts";
import { temporaryFolder } from "../../../../support/project.ts";

/** Answers a call, and writes a file a moment after its input has ended. */
const tidy = `
process.stdin.on("data", () => console.log('{"id": 1, "values": [7]}'));
process.stdin.on("end", () => setTimeout(() => require("node:fs").writeFileSync("tidied", ""), 50));
`;

test("a command has time to end by itself when all is computed", async () => {
  const folder = temporaryFolder();
  const { raw, close } = startCommand([process.execPath, "-e", tidy], folder);
  expect(await raw([{ id: 1 }], new AbortController().signal)).toMatchObject({ values: [7] });
  await close();
  expect(existsSync(join(folder, "tidied"))).toBe(true);
});

/** Answers each call, between other lines. */
const talkative = `
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id } = JSON.parse(line);
  console.log("loading");
  console.log('{"progress": 1}');
  process.stdout.write("half a line ");
  console.log(JSON.stringify({ id, values: [id] }));
});`;

test("lines that are no answers are passed on, and an answer may follow on the same line", async () => {
  const printed: string[] = [];
  const command = [process.execPath, "-e", talkative];
  const { raw, close } = startCommand(command, temporaryFolder(), (line) => printed.push(line));
  for (const call of [1, 2])
    expect(await raw([{ id: 1 }], new AbortController().signal)).toMatchObject({ values: [call] });
  await close();
  expect(printed).toEqual(["loading", '{"progress": 1}', "loading", '{"progress": 1}']);
});

/** Does something for each call. */
const answering = (first: string) => `
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id } = JSON.parse(line);
  ${first}
});`;

test.each<[program: string, answer: string, problem: RegExp]>([
  [process.execPath, "process.exit(3);", /^it ended with exit code 3$/],
  [process.execPath, 'console.log(JSON.stringify({ id, error: "no such model" }));', /^no such model$/],
  [process.execPath, 'console.log(`{"id": ${id}, "values": [NaN]}`);', /^it wrote a line that is no answer/],
  ["no-such-program", "", /^this command is not installed, or not in the PATH/],
])("what a command does wrong is the error of the call: %s, %s", async (program, answer, problem) => {
  const { raw, close } = startCommand([program, "-e", answering(answer)], temporaryFolder());
  await expect(raw([{ id: 1 }], new AbortController().signal)).rejects.toThrow(problem);
  await close();
});

test("a command that the system refuses at once is an error of the code", () => {
  const start = () => startCommand([process.execPath, "x".repeat(2 ** 22)], temporaryFolder());
  expect(start).toThrow(FillFailed);
  expect(start).toThrow(/: it can't be started \(spawn E2BIG\)$/);
});

import { expect, test } from "vitest";
import type { Command, Context } from "../../../src/cli/command/command.ts";
import { interruptible } from "../../../src/main/interruptible.ts";

test.each(["SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK"] as const)("at %s a command ends by itself", async (signal) => {
  const problems: unknown[] = [];
  const context = { flags: {}, output: { problem: (line: unknown) => problems.push(line) } } as unknown as Context;
  const run = async ({ signal: stop }: Context) => {
    process.emit(signal, signal);
    return stop.aborted ? ("pending" as const) : undefined;
  };
  expect(await interruptible(context, { run } as unknown as Command, () => {})).toBe("pending");
  expect(problems).toEqual(["stopping; interrupt again to stop at once"]);
});

import { z } from "zod";
import { count, MigrateError } from "../../errors.ts";
import { parseFlags, wholeFlag, withSession, type Command } from "../command.ts";
import { done } from "../exit-code.ts";

const violated = 1;

const simulateFlags = z.looseObject({
  schedules: wholeFlag("schedules", 1).optional(),
  seed: wholeFlag("seed", 0).optional(),
});

const usually = 1_000;

export const simulateCommand: Command = {
  usage: "simulate",
  describe: "run the migrations in memory on machines that fail in every way, and check what has to hold",
  flags: (cli) =>
    cli
      .option("schedules", { type: "string", describe: `how many ways to fail (${usually})` })
      .option("seed", { type: "string", describe: "show one schedule happen, from its number" }),
  async run(context) {
    const { flags, output, signal } = context;
    const { schedules = usually, seed } = parseFlags(simulateFlags, flags);
    if (seed !== undefined && flags["schedules"] !== undefined)
      throw new MigrateError("ERR_USAGE", { problem: "--seed shows one schedule; leave out --schedules" });
    // Nothing else needs a simulator.
    const { ownScenario } = await import("../../simulator/own.ts");
    const { countsText, simulate } = await import("../../simulator/simulate.ts");
    const { runSchedule } = await import("../../simulator/schedule.ts");
    const scenario = await withSession(context, {}, ({ options }) => ownScenario(options));
    if (scenario.migrations.length === 0)
      throw new MigrateError("ERR_USAGE", {
        problem: "there are no migrations to simulate; write one with migrate new",
      });
    if (seed !== undefined) {
      const trace: string[] = [];
      const tell = (what: () => string) => void (output.json ? trace.push(what()) : output.result(what()));
      const problem = await runSchedule(seed, () => scenario, { tell, count: () => {} });
      output.data({ seed, problem: problem ?? null, trace });
      output.result(problem ?? "everything held");
      return problem === undefined ? done : violated;
    }
    const result = await simulate({
      scenario: () => scenario,
      first: 1,
      schedules,
      mostViolations: 1,
      signal,
      progress: (ran) => output.passing(`${ran} of ${count(schedules, "schedule")}`),
    });
    if (signal.aborted && result.violations.length === 0)
      throw new MigrateError("ERR_INTERRUPTED", {
        done: `${count(result.schedules, "schedule")} ran, and everything held`,
      });
    output.data({ model: scenario.model, migrations: scenario.migrations.length, ...result });
    for (const violation of result.violations)
      output.result(`${violation.problem}\nsee it happen: migrate simulate --seed ${violation.seed}`);
    output.result(`${countsText(result)}`);
    const held = result.violations.length === 0;
    output.result(`${count(result.schedules, "schedule")}: ${held ? "everything held" : "something did not hold"}`);
    return held ? done : violated;
  },
};

import { lint } from "../../run/lint.ts";
import { withSession, type Command } from "../command.ts";
import { done, exitCodeOf } from "../exit-code.ts";
import { count } from "../../errors.ts";

export const lintCommand: Command = {
  usage: "lint",
  describe: "check every migration without touching the target's tables",
  async run(context) {
    const { output } = context;
    const { problems, files, losses } = await withSession(context, {}, ({ options }) => lint(options));
    output.data({
      files,
      problems: problems.map(({ code, message, details }) => ({ code, message, details })),
      losses,
    });
    for (const { message } of problems) output.problem(message);
    if (problems[0] !== undefined) return exitCodeOf(problems[0]);
    for (const { place, text } of losses) output.result(`note: ${place.file}, step ${place.step}: ${text}`);
    output.result(`${count(files, "migration")} checked, nothing wrong`);
    return done;
  },
};

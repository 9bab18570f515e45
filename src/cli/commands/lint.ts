import { relative } from "node:path";
import { z } from "zod";
import { lint, type LintResult } from "../../run/lint.ts";
import { parseFlags, switchFlag, withSession, type Command } from "../command.ts";
import { done, exitCodeOf } from "../exit-code.ts";
import { count } from "../../errors.ts";
import { staleLock, writeLockOf } from "../lock.ts";

const lintFlags = z.looseObject({ write: switchFlag });

export const lintCommand: Command = {
  usage: "lint",
  describe: "check every migration without touching the target's tables",
  switches: { write: "write lock.json anew" },
  async run(context) {
    const { output, flags } = context;
    const { write } = parseFlags(lintFlags, flags);
    const { problems, files, losses, lock } = await withSession(
      context,
      {},
      async (session): Promise<LintResult & { readonly lock?: string }> => {
        const found = await lint(session.options);
        if (found.problems.length > 0) return found;
        if (write === true) return { ...found, lock: await writeLockOf(session) };
        const stale = await staleLock(session);
        return stale === undefined ? found : { ...found, problems: [stale] };
      },
    );
    output.data({
      files,
      problems: problems.map(({ code, message, details }) => ({ code, message, details })),
      losses,
      lock,
    });
    for (const { message } of problems) output.problem(message);
    if (problems[0] !== undefined) return exitCodeOf(problems[0]);
    for (const { place, text } of losses) output.result(`note: ${place.file}, step ${place.step}: ${text}`);
    if (lock !== undefined) output.result(`wrote ${relative(process.cwd(), lock)}`);
    output.result(`${count(files, "migration")} checked, nothing wrong`);
    return done;
  },
};

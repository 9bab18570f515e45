import { deferredIndexes, doctor, loadsFiles, type TargetCheck } from "./doctor.ts";
import { deferralText } from "../../run/deferral-text.ts";
import { checkExists } from "../../run/run-context.ts";
import { defineCommand, withTarget } from "../../cli/command/command.ts";
import { pythonFlag } from "../../cli/command/flags.ts";
import type { Line } from "../../cli/command/output.ts";
import type * as shapes from "./json.ts";

export const doctorCommand = defineCommand({
  describe: "check with temporary tables whether the target supports what migrations need",
  examples: [
    ["migrate doctor", "check the only target, or the usual one"],
    ["migrate doctor --target production", "check another one"],
  ],
  exits: { failed: "the target lacks something that migrate up needs" },
  stopping: "the check ends by itself and drops its temporary tables first",
  flags: { ...pythonFlag },
  async run(context) {
    const { output, underWay } = context;
    const [result, target] = await withTarget(context, async (options) => {
      await checkExists(options);
      const checked = await doctor(options.target, options.ledger, (news) => {
        // The first finding is reported before the first temporary table is created.
        underWay(!("leftBehind" in news));
        if (!("leftBehind" in news)) output.result(checkLine(news));
        else if (news.leftBehind.length > 0)
          output.result(`these temporary tables could not be dropped: ${news.leftBehind.join(", ")}`);
      });
      const loads = await loadsFiles(options);
      if (loads !== undefined) output.result(checkLine(loads));
      const findings = loads === undefined ? checked.findings : [...checked.findings, loads];
      return { ...checked, findings, ...(await deferredIndexes(options)) };
    });
    for (const one of result.deferred) output.result(deferralText(one));
    if (result.deferredProblem !== undefined)
      output.result(`whether indexes are deferred is unknown: ${result.deferredProblem}`);
    const fit = result.fit && result.deferredProblem === undefined;
    output.data<typeof shapes.doctor>({ target, ...result, fit });
    const why = result.fit ? "its ledger can't be read" : "see the lines marked no";
    output.result(fit ? `${target} can be migrated` : `${target} can't be migrated safely: ${why}`);
    return fit ? undefined : "failed";
  },
});

function checkLine({ what, found, needed, detail = "" }: TargetCheck): Line {
  const mark = found
    ? ({ style: "green", text: "yes" } as const)
    : ({ style: needed ? "red" : "yellow", text: "no " } as const);
  return [mark, `  ${what}${detail === "" ? "" : `: ${detail}`}`];
}

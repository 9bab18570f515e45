import { doctor, type TargetCheck } from "../../commands/doctor.ts";
import { withSession, type Command } from "../command/command.ts";
import { done } from "../command/exit-code.ts";

const unfit = 1;

export const doctorCommand: Command = {
  usage: "doctor",
  describe: "check on temporary tables whether the target supports what up needs",
  stopping: "it ends by itself, and clears away what it made",
  async run(context) {
    const { output, underWay } = context;
    const tell = (news: TargetCheck | { readonly leftBehind: readonly string[] }) => {
      // The first finding is reported before the first scratch table is created.
      underWay(!("leftBehind" in news));
      if ("leftBehind" in news) {
        if (news.leftBehind.length > 0)
          output.result(`left behind, since they can't be dropped: ${news.leftBehind.join(", ")}`);
        return;
      }
      const { what, found, needed, detail } = news;
      const mark = found ? output.styled("green", "yes") : output.styled(needed ? "red" : "yellow", "no ");
      output.result(`${mark}  ${what}${detail === undefined || detail === "" ? "" : `: ${detail}`}`);
    };
    const [target, result] = await withSession(
      context,
      {},
      async ({ options: { target, ledger } }) => [target.name, await doctor(target, ledger, tell)] as const,
    );
    const { fit } = result;
    output.data({ target, ...result });
    output.result(fit ? `${target} can be migrated` : `${target} can't be migrated safely: see what is marked no`);
    return fit ? done : unfit;
  },
};

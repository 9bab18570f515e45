/** `migrate plan --format markdown` */
import packageJson from "../../../package.json" with { type: "json" };
import type { Context } from "../../cli/command/command.ts";
import { defineExtension } from "../../cli/command/feature.ts";
import { choiceFlag } from "../../cli/command/flags.ts";
import { showPlan, type PlanFlags } from "../../cli/commands/plan.ts";
import { cleaned, withoutKnownSecrets } from "../../secrets/redact.ts";
import { noPlanMarkdown } from "./no-plan-markdown.ts";
import { planMarkdown } from "./plan-markdown.ts";

const formats = ["text", "markdown"] as const;
const tool = `${packageJson.name} ${packageJson.version}`;

export const planFormat = defineExtension({
  examples: [["migrate plan --format markdown", "in CI: write a comment for the pull request"]],
  flags: { format: choiceFlag("what to print: text, or Markdown for a comment on a pull request", formats) },
  conflicts: [["format", "json"]],
  async run(context, rest) {
    if (context.flags.format !== "markdown") return await rest();
    // The flags of the command were parsed too.
    const whole = context as Context<PlanFlags>;
    const { database, out: saved } = whole.flags;
    const about = () => ({ database, tool, at: Date.now(), saved });
    return await showPlan(whole, {
      planned: (document) => planMarkdown(cleaned(document), about()),
      failed: (planned, error) => noPlanMarkdown(planned, about(), withoutKnownSecrets(error.message), error.code),
    });
  },
});

/** The targets of the configuration that a command is not run for. */
import { openOthers } from "../../session/config.ts";
import type { OtherTarget } from "../../commands/lint/rules/rule.ts";
import type { Session } from "../../session/session.ts";

/** Their capabilities, without a call to them. */
export async function otherTargets({ config, options }: Session): Promise<readonly OtherTarget[]> {
  const opened = await openOthers(config, options.target.name);
  await Promise.all(opened.map(async (target) => await target.close()));
  return opened.map(({ name, capabilities }) => ({ name, capabilities }));
}

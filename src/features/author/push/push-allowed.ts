import { MigrateError } from "../../../errors/migrate-error.ts";
import type { Session } from "../../../session/session.ts";

/** `instead`: what to do on a target that does not allow it; `verb`: of another command than push. Throws ERR_PUSH_REFUSED. */
export function checkPushAllowed({ config, target }: Session, instead: string, verb?: "reset" | "run"): void {
  if (config.targets[target]?.push === true) return;
  throw new MigrateError("ERR_PUSH_REFUSED", {
    ...(verb && { verb }),
    problem: `${config.file} does not allow it on target ${target}`,
    hint: `${instead}, or set push: true for this target if it is only for trying things out`,
  });
}

/** Reports the phases of a column that is computed. */
import type { Phase, Phases } from "../../../run/phase.ts";
import { seldom } from "./seldom.ts";
import type { ExecutorContext } from "../../../run/run-context.ts";

export function watchedPhases(
  { clock, emit, entered }: Pick<ExecutorContext, "clock" | "emit" | "entered">,
  column: { readonly table: string; readonly path: string },
): Phases {
  let now: Phase | undefined;
  let all: number | undefined;
  const see = (rows?: number) => emit({ event: "phase", ...column, phase: now!, rows, total: all });
  const { see: reached } = seldom(clock, see);
  return {
    async enter(phase, total) {
      if (phase === now) return;
      [now, all] = [phase, total];
      see();
      await entered?.(phase);
    },
    reached,
  };
}

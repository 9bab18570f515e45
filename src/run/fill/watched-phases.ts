/** Reports the phases of a column that is computed. */
import type { Clock } from "../../time/clock.ts";
import type { Phase, Phases } from "../phase.ts";
import { seldom } from "../../time/seldom.ts";
import type { Emit } from "../events.ts";

export interface PhaseWatch {
  readonly clock: Clock;
  readonly emit: Emit;
  /** Called when a phase begins. */
  readonly entered?: ((phase: Phase) => Promise<void>) | undefined;
}

export function watchedPhases(
  { clock, emit, entered }: PhaseWatch,
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

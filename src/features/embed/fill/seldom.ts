import type { Clock } from "../../../time/clock.ts";

/** Passes something on at most once a second, and at the end the last. */
export function seldom<Given extends readonly unknown[]>(clock: Clock, emit: (...given: Given) => void) {
  let next = 0;
  let last: Given | undefined;
  return {
    see(...given: Given) {
      last = given;
      if (clock.steady() < next) return;
      next = clock.steady() + 1_000;
      last = undefined;
      emit(...given);
    },
    end() {
      if (last !== undefined) emit(...last);
    },
  };
}

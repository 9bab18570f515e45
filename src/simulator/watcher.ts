/** Who looks on while a schedule happens. */
export interface Watcher {
  /** Hears of everything; the words are made only where somebody listens. */
  readonly tell: (what: () => string) => void;
  readonly count: (what: Counted) => void;
}

/** What a simulation counts, in words for people. */
export const counted = {
  run: "runs",
  kill: "killed",
  stop: "stopped for a while",
  jump: "clocks set",
  interrupt: "interrupted",
  lost: "requests lost",
  answerLost: "answers lost",
  throttled: "throttled",
  conflict: "conflicts",
  failing: "5xx",
  late: "actions after the lease",
  maybeLate: "schedules after whose trouble the tables were not compared, as a call may have come late",
  harmed: "schedules of which only the ends of runs could be checked",
} as const;
export type Counted = keyof typeof counted;

export const blind: Watcher = { tell: () => {}, count: () => {} };

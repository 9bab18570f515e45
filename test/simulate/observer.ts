/** Who looks on while a schedule happens. */
export interface Watcher {
  /** Hears of everything; the words are made only where somebody listens. */
  readonly tell: (what: () => string) => void;
  readonly count: (what: Counted) => void;
}

/** What a simulation counts, in words for people: of one, without the (s). */
export const counted = {
  run: "run(s)",
  kill: "killed",
  stop: "stopped for a while",
  jump: "clock(s) set",
  interrupt: "interrupted",
  lost: "request(s) lost",
  answerLost: "answer(s) lost",
  throttled: "throttled",
  conflict: "conflict(s)",
  crowded: "append(s) of others in the way",
  failing: "5xx",
  writes: "row(s) written by applications",
  metadata: "metadata of column(s) set by applications",
  recreation: "table(s) recreated by applications",
  compaction: "table(s) compacted and cleaned up",
  tornLists: "torn list(s) of tables",
  opposite: "run(s) that applied what others rolled back",
  careful: "run(s) that rolled back and accepted no loss",
  saved: "run(s) with a saved plan",
  loud: "loss(es) that a run reported or was killed by",
  stray: "index(es) made when nobody waited for them any more",
  late: "action(s) after the lease",
  maybeLate: "schedule(s) after whose trouble the tables were not compared, as a call may have come late",
  harmed: "schedule(s) of which only the ends of runs could be checked",
} as const;
export type Counted = keyof typeof counted;

export const blind: Watcher = { tell: () => {}, count: () => {} };

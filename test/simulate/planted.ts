/** Bugs, each planted by one change of the source: the simulator has to find every one. */

export interface PlantedBug {
  readonly name: string;
  /** Relative to src. */
  readonly file: string;
  /** Stands in the file once. */
  readonly right: string;
  readonly wrong: string;
  /** The first schedule that shows it; where others are drawn by now, some later one does. */
  readonly near: number;
}

const bug = (name: string, near: number, file: string, right: string, wrong: string): PlantedBug => ({
  name,
  near,
  file,
  right,
  wrong,
});

export const plantedBugs: readonly PlantedBug[] = [
  bug(
    "a lease is taken over by the wall clock, which may be set",
    674,
    "ledger/lease.ts",
    "const began = clock.steady();",
    "clock = { ...clock, steady: clock.wall };\n  const began = clock.steady();",
  ),
  bug(
    "a silent holder is waited for by half its lease",
    1221,
    "ledger/lease.ts",
    "if (asked - since > silence) return newest;",
    "if (asked - since > silence / 2) return newest;",
  ),
  bug(
    "a holder is sure of a lease that has run out",
    256,
    "ledger/lease.ts",
    "isSure: () => isHeld() && !overdue(),",
    "isSure: () => isHeld() || duration > 0,",
  ),
  bug(
    "a record that was written too late counts as a renewal",
    20,
    "ledger/lease.ts",
    "if (!overdue()) held = started;",
    "held = started;",
  ),
  bug(
    "nothing is renewed while an action takes long",
    600,
    "ledger/lease.ts",
    "if (renewing || elapsed(clock, held) < duration / 3 || overdue()) return;",
    "if (duration > 0) return;",
  ),
  bug(
    "an epoch whose answer was lost is taken for one's own",
    183,
    "ledger/lease.ts",
    "if (owner === undefined && failure !== undefined) throw failure;",
    "if (failure !== undefined) return true;",
  ),
  bug(
    "an epoch is taken by a plain append",
    20,
    "ledger/rows.ts",
    "return await table.insertIfAbsent(toRow(record));",
    "await table.insert([toRow(record)]);\n        return true;",
  ),
  bug(
    "whoever asks for an epoch believes that it is its own",
    10,
    "ledger/markers.ts",
    "if (won) own.set(epoch, { by, run });",
    "own.set(epoch, { by, run });",
  ),
  bug(
    "the number of a record that could not be written is used again",
    117,
    "ledger/chain.ts",
    "({ hash, last } = before);",
    "({ hash, last } = before);\n        number -= entries.length;",
  ),
  bug(
    "the ledger forgets what a dead holder was at",
    1,
    "ledger/fold.ts",
    "if (!released && mayHaveRun(next)) doubtful.add(next);",
    "",
  ),
  bug(
    "a table that comes back to a schema is not recorded before",
    52,
    "plan/plan.ts",
    "(!describes || again || isSilent)",
    "(!describes || isSilent)",
  ),
  bug(
    "not every action has its record where tables can't be looked at",
    10,
    "plan/plan.ts",
    "(!describes || again || isSilent)",
    "(describes && (again || isSilent))",
  ),
  bug(
    "a swap is sent again though the first may have come through",
    3409,
    "run/act.ts",
    "return !addsRows.has(action.kind) && withoutSwaps(action).length === 1;",
    "return !addsRows.has(action.kind) && withoutSwaps(action).length > 0;",
  ),
  bug(
    "the table is not looked at again before a second try",
    15,
    "run/act.ts",
    "if ((hasTrace || failure === undefined) && sameTables(after, tablesIn(found)))",
    "if (failure === undefined && sameTables(after, tablesIn(found)))",
  ),
  bug(
    "an action is recorded before it is done",
    102,
    "run/executor.ts",
    "done++;\n  }",
    'done++;\n    const ahead = planned.actions[index + 1];\n    if (ahead?.recordFirst === true) done++;\n    if (ahead?.recordFirst === true) await lease.record([{ event: "advanced", ...facts(), next: version }]);\n    if (ahead?.recordFirst === true) done--;\n  }',
  ),
  bug(
    "what is in doubt is released as if it were known",
    121,
    "run/executor.ts",
    "await lease.release([record], inDoubt ? version : undefined).catch(() => {});",
    "await lease.release([record]).catch(() => {});",
  ),
  bug(
    "who acted late says nothing",
    256,
    "run/attempt.ts",
    "await confessLateness(action, failure, calling);",
    "void confessLateness;",
  ),
  bug(
    "what another run does meanwhile is taken for drift",
    26,
    "run/planning.ts",
    "if (sameRecord(head, input.state.head)) throw error;",
    "throw error;",
  ),
  bug(
    "patience is over at once",
    2926,
    "ledger/lease.ts",
    "if (atWork && clock.steady() - began >= patience)",
    "if (atWork)",
  ),
  bug(
    "nobody looks at the tables of late calls",
    90,
    "run/late.ts",
    "for (const late of calls) {",
    "for (const late of [] as typeof calls) {",
  ),
  bug(
    "what an action of several commits loses is not recorded",
    2,
    "run/act-in-commits.ts",
    "const isToNote = leads || (isNews && (commits.length > 1 || isTurn));",
    "const isToNote = leads;",
  ),
  bug(
    "a commit that leads back is not recorded before",
    2,
    "run/act-in-commits.ts",
    "const leads = at > (noted?.commit ?? 0) && leadsBack(commits, at);",
    "const leads = at > commits.length;",
  ),
  bug(
    "a run that goes on at a commit that leads back does not record it",
    1515,
    "run/act-in-commits.ts",
    "const leads = at > (noted?.commit ?? 0) && leadsBack(commits, at);",
    "const leads = !isResumed && at > (noted?.commit ?? 0) && leadsBack(commits, at);",
  ),
  bug(
    "a commit that leads back is taken as done",
    2,
    "plan/commits.ts",
    "if (at > from && leadsBack(commits, at)) break;",
    "",
  ),
  bug(
    "a run goes on in a ledger that it could not tell how far an action of several commits got",
    24,
    "run/executor.ts",
    "if (isHeld(cause) || (cause !== undefined && cause === unwritten)) {",
    "if (isHeld(cause)) {",
  ),
  bug(
    "what a refused commit came after is not taken back",
    4,
    "run/act-in-commits.ts",
    "return ending.inDoubt || isUntouched ? ending : await takenBack(commit, ending, planned, acting);",
    "return ending;",
  ),
  bug(
    "the next run does not know the places of a detour",
    175,
    "plan/commits.ts",
    "if (detour !== undefined) return { commits: at, detour };",
    "",
  ),
  bug(
    "the next run begins a detour anew",
    175,
    "plan/whereabouts.ts",
    "...commits[done]!.detour.slice(detour)",
    "...commits[done]!.detour",
  ),
  bug(
    "a detour that is refused leaves the columns hidden",
    4770,
    "schema/actions/guard.ts",
    "undo: [show, ...undo]",
    "undo",
  ),
  bug(
    "an action is taken for done without what the ledger keeps of it",
    170,
    "plan/plan.ts",
    "if (first === undefined || midway === undefined) return actions;",
    "if (first === undefined || midway === undefined || actions.length > 0) return actions;",
  ),
  bug(
    "a slow call is sent once more beside it where late ones are not refused",
    769,
    "run/hedge.ts",
    "if (!isMomentary(action) || !isFenced(action.kind, target.capabilities)) return await firstGood(calls);",
    "if (!isMomentary(action)) return await firstGood(calls);",
  ),
  bug(
    "a migration is taken back without a word before",
    84,
    "run/executor.ts",
    'if (direction === "down") await lease.record([{ event: onTheWay, ...facts(), next: version }]);',
    "",
  ),
  bug(
    "a run goes on where its own way back would have been",
    107,
    "plan/course.ts",
    "...progressOf(known.reversal),",
    "...progressOf(known.reversal),\n    done: 0,",
  ),
];

/** Bugs, each planted by changes of the source: the simulator has to find every one. */

export interface PlantedBug {
  readonly name: string;
  /** More than one where several mechanisms prevent the same. */
  readonly changes: readonly PlantedChange[];
  /** The first schedule that shows it, or one before it. */
  readonly near: number;
}

export interface PlantedChange {
  /** Relative to src. */
  readonly file: string;
  /** Stands in the file once. */
  readonly right: string;
  readonly wrong: string;
}

const change = (file: string, right: string, wrong: string): PlantedChange => ({ file, right, wrong });
const bug = (name: string, near: number, ...texts: Parameters<typeof change>): PlantedBug => ({
  name,
  near,
  changes: [change(...texts)],
});

export const plantedBugs: readonly PlantedBug[] = [
  bug(
    "a lease is taken over by the wall clock, which may be set",
    455,
    "ledger/lease/wait-for-holder.ts",
    "const began = clock.steady();",
    "clock = { ...clock, steady: clock.wall };\n  const began = clock.steady();",
  ),
  bug(
    "a silent holder is waited for by half its lease",
    222,
    "ledger/lease/wait-for-holder.ts",
    "if (asked - since > silence) return newest;",
    "if (asked - since > silence / 2) return newest;",
  ),
  bug(
    "a group without calls is recorded by a run that was taken over",
    10155,
    "run/execute/execute-group.ts",
    "await checkStated(progress);",
    "",
  ),
  {
    name: "the first record of an epoch comes after another run has taken over",
    near: 34415,
    changes: [
      change("run/lease/with-lease.ts", "await lease.check();\n        const done", "const done"),
      change("commands/run.ts", "await lease.check();\n    await lease.record", "await lease.record"),
    ],
  },
  bug(
    "a holder is sure of a lease that has run out",
    98,
    "ledger/lease/lease.ts",
    "return isHeld(holding) && !isOverdue(holding);",
    "return isHeld(holding) || holding.duration > 0;",
  ),
  bug(
    "a record that was written too late counts as a renewal",
    573,
    "ledger/lease/lease.ts",
    "if (!isOverdue(holding)) holding.since = started;",
    "holding.since = started;",
  ),
  bug(
    "nothing is renewed while an action takes long",
    448,
    "ledger/lease/lease.ts",
    "if (elapsed(clock, holding.since) < duration / 3 || isOverdue(holding)) return;",
    "if (duration > 0) return;",
  ),
  bug(
    "an epoch whose answer was lost is taken for one's own",
    263,
    "ledger/lease/lease.ts",
    "if (owner === undefined && failure !== undefined) throw failure;",
    "if (failure !== undefined) return true;",
  ),
  bug(
    "an epoch is taken by a plain append",
    2,
    "ledger/journal/rows-journal.ts",
    "return await table.insertIfAbsent(toRow(record));",
    "await table.insert([toRow(record)]);\n        return true;",
  ),
  bug(
    "whoever asks for an epoch believes that it is its own",
    12,
    "ledger/journal/markers-journal.ts",
    "if (won) own.set(name, { by, run });",
    "own.set(name, { by, run });",
  ),
  bug(
    "the number of a record that could not be written is used again",
    209,
    "ledger/lease/record-chain.ts",
    "({ hash, last, deferral } = before);",
    "({ hash, last, deferral } = before);\n        number -= entries.length;",
  ),
  bug(
    "the ledger forgets what a dead holder was at",
    21,
    "ledger/state/fold.ts",
    "if (!fold.isReleased) doubt(fold, fold.next);",
    "",
  ),
  bug(
    "a table that comes back to a schema is not recorded before",
    194,
    "plan/make-plan.ts",
    "(!describes || again || isSilent)",
    "(!describes || isSilent)",
  ),
  bug(
    "not every action has its record where tables can't be looked at",
    55,
    "plan/make-plan.ts",
    "(!describes || again || isSilent)",
    "(describes && (again || isSilent))",
  ),
  bug(
    "a swap is sent again though the first may have come through",
    65,
    "run/execute/execute-described.ts",
    "return !addsRows.has(action.kind) && !swapsNames(action);",
    "return !addsRows.has(action.kind);",
  ),
  bug(
    "the table is not looked at again before a second try",
    647,
    "run/execute/execute-described.ts",
    "if (failure === undefined ? sameTables(after, tablesInSnapshots(found)) : this.#isDoneIn(tablesInSnapshots(found)))",
    "if (failure === undefined && sameTables(after, tablesInSnapshots(found)))",
  ),
  bug(
    "an action is recorded before it is done",
    38,
    "run/execute/execute.ts",
    "  progress.done++;\n",
    "  progress.done++;\n  const ahead = planned.actions[planned.actions.indexOf(action) + 1];\n  if (ahead?.recordFirst === true) progress.done++;\n  if (ahead?.recordFirst === true) await recordProgress(progress);\n  if (ahead?.recordFirst === true) progress.done--;\n",
  ),
  bug(
    "what is in doubt is released as if it were known",
    209,
    "run/execute/migration-progress.ts",
    "await lease.release([record], inDoubt ? version : undefined).catch(() => {});",
    "await lease.release([record]).catch(() => {});",
  ),
  bug(
    "who acted late says nothing",
    98,
    "run/execute/send-action.ts",
    "await recordLateCall(failure, harm, context);",
    "void recordLateCall;",
  ),
  bug(
    "what another run does meanwhile is taken for drift",
    5,
    "run/prepare/consistent-read.ts",
    'if (!isMigrateError(error) || error.outcome !== "refused" || !(await isOutdated())) throw error;',
    "throw error;",
  ),
  bug(
    "patience is over at once",
    38,
    "ledger/lease/wait-for-holder.ts",
    "if (atWork && clock.steady() - began >= patience)",
    "if (atWork)",
  ),
  bug(
    "nobody looks at the tables of late calls",
    2,
    "run/execute/late-calls.ts",
    "for (const late of calls) {",
    "for (const late of [] as typeof calls) {",
  ),
  bug(
    "what an action of several commits loses is not recorded",
    2,
    "run/execute/commit-loop.ts",
    "const isToRecord = leads || (isUnrecorded && (commits.length > 1 || isDetour));",
    "const isToRecord = leads;",
  ),
  bug(
    "a commit that leads back is not recorded before",
    2,
    "run/execute/commit-loop.ts",
    "const leads = at > (recorded?.commit ?? 0) && leadsBack(commits, at) && !onlyReads(commit.action);",
    "const leads = at > commits.length;",
  ),
  bug(
    "a run that goes on at a commit that leads back does not record it",
    3997,
    "run/execute/commit-loop.ts",
    "const leads = at > (recorded?.commit ?? 0) && leadsBack(commits, at) && !onlyReads(commit.action);",
    "const leads =\n    !run.isResumed && at > (recorded?.commit ?? 0) && leadsBack(commits, at) && !onlyReads(commit.action);",
  ),
  bug(
    "a commit that leads back is taken as done",
    3,
    "plan/commits/commits.ts",
    "if (at > from ? leadsBack(commits, at) : changesRows(commits[at]!.action)) break;",
    "if (at === from && changesRows(commits[at]!.action)) break;",
  ),
  bug(
    "a run goes on in a ledger that it could not tell how far an action of several commits got",
    72,
    "run/execute/migration-progress.ts",
    "isHeld(cause) || (cause !== undefined && cause === unwritten);",
    "isHeld(cause);",
  ),
  bug(
    "what a refused commit came after is not rolled back",
    31,
    "run/execute/commit-loop.ts",
    "return await rollBackCommits(commit, { ...ending, part }, planned, context);",
    "return ending;",
  ),
  bug(
    "the next run does not know the places of a detour",
    70,
    "plan/commits/commits.ts",
    "if (detour !== undefined) return { done: at, detour };",
    "",
  ),
  bug(
    "the next run begins a detour anew",
    70,
    "plan/commits/commit-progress.ts",
    "...commits[done]!.detour.slice(detour)",
    "...commits[done]!.detour",
  ),
  bug(
    "a detour that is refused leaves the columns hidden",
    1838,
    "actions/rewrite/append-guard.ts",
    "undo: [show, ...undo]",
    "undo",
  ),
  bug(
    "an action is taken for done without what the ledger keeps of it",
    530,
    "plan/make-plan.ts",
    "if (first === undefined || midway === undefined) return actions;",
    "if (first === undefined || midway === undefined || actions.length > 0) return actions;",
  ),
  bug(
    "a slow call is sent once more beside it where late ones are not refused",
    7352,
    "run/execute/hedged-send.ts",
    "return isMomentary(action) && capabilities.fences;",
    "return isMomentary(action) && capabilities !== undefined;",
  ),
  bug(
    "a migration is rolled back without a word before",
    97,
    "run/execute/migration-progress.ts",
    'if (direction === "down") await recordProgress(progress);',
    "",
  ),
  bug(
    "a run goes on where its own way back would have been",
    10,
    "plan/history/migration-run.ts",
    "startedAt: known.reversal?.tables, left };",
    "startedAt: known.reversal?.tables, left, done: 0 };",
  ),
  bug(
    "metadata that others set during a rename is not set again",
    415,
    "run/execute/side-effects.ts",
    "const isBeside = made !== undefined && made > seen.version + 1;",
    "const isBeside = false;",
  ),
  bug(
    "metadata that others set is lost with the version that an older one replaces",
    56,
    "run/execute/execute-described.ts",
    "const { commits, harm = done.harm } = await reapplyForeignSettings(this.#planned, call, this.#context);",
    "const { commits, harm } = { commits: 0, harm: done.harm };",
  ),
  bug(
    "what comes late to a table that was recreated is not noticed",
    676,
    "run/execute/side-effects.ts",
    "if (await mayBeAnother(action.table, seen, made, target)) return",
    "if (made === -1) return",
  ),
  bug(
    "a late call is not recorded where the engine is believed to refuse it",
    98,
    "run/execute/send-action.ts",
    "if (surelyNothing || lease.isSure()) return;",
    "if (surelyNothing || lease.isSure() || target.capabilities.fences) return;",
  ),
  bug(
    "a kept version is released before the ledger says that it is no longer needed",
    766,
    "run/execute/execute.ts",
    "await lease.record(records);\n      await releaseUnneeded(",
    "await releaseRestorePoints(unit, execution.target, execution.ledger, lease.epoch());\n      await lease.record(records);\n      await releaseUnneeded(",
  ),
  bug(
    "a kept version is released by a run that was overtaken",
    29_670,
    "run/execute/execute.ts",
    "await lease.check();\n  // Applied again",
    "// Applied again",
  ),
  {
    name: "a torn list of tables is believed, and what is recorded next refers to it",
    near: 4124,
    changes: [
      change("ledger/journal/markers-journal.ts", "if (absent.length === 0) return all;", "return all;"),
      change(
        "ledger/journal/markers-journal.ts",
        "if (records.length === before || agreesWithNewest(foldLedger(records))) return records;",
        "return records;",
      ),
      change(
        "ledger/lease/lease.ts",
        "recordChain(foldLedger(before), runner, clock, journal.hashOf);",
        "holding.chain;",
      ),
    ],
  },
  bug(
    "a resumed migration keeps the version that it finds, not the one before it",
    3456,
    "run/execute/restore-points.ts",
    "|| isPartlyDone(planned)) return undefined;",
    "|| isPartlyDone({ ...planned, done: 0 })) return undefined;",
  ),
  bug(
    "a version is kept and not recorded before the migration begins",
    588,
    "run/execute/execute.ts",
    "  // Recorded before anything is changed: a run that resumes must know these versions.\n  await recordProgress(progress);",
    "",
  ),
  bug(
    "what others write during a migration counts as written by it",
    603,
    "run/execute/restore-points.ts",
    "|| (watched.has(name) && !isAlone);",
    "|| (watched.has(name) && !isAlone && commits < 0);",
  ),
  bug(
    "a saved plan that accepts a loss is carried out after rows were written",
    4923,
    "plan/document/saved-tables.ts",
    "if (loses && now.newest !== version && !changed.has(table))",
    "if (loses && now.newest < version && !changed.has(table))",
  ),
  bug(
    "a rollback asks about rows only where it can reinsert them",
    1707,
    "run/check/find-blocking-rows.ts",
    "    if (lost === undefined) continue;\n    if (acceptLoss",
    "    if (lost === undefined || lost.mayReinsert !== true) continue;\n    if (acceptLoss",
  ),
  {
    name: "a rollback does not ask about the rows that it drops",
    near: 302,
    changes: [
      change(
        "run/check/find-blocking-rows.ts",
        "} else if (isTooMany(there) || there.rows < least)",
        "} else if (there.rows < least)",
      ),
      change(
        "run/execute/write-guard.ts",
        "if (there === undefined ? !question.isRefused : isTooMany(there))",
        "if (there === undefined ? !question.isRefused : false)",
      ),
    ],
  },
  bug(
    "a run writes in an epoch though it has read of a newer one",
    182,
    "ledger/lease/lease.ts",
    "if (ledger.some((other) => other.epoch > record.epoch)) return;",
    "",
  ),
  bug(
    "metadata that others set meanwhile is replaced by what is put back",
    695,
    "run/execute/commit-loop.ts",
    "isAllLeft(sent.action, tables) &&",
    "",
  ),
  bug(
    "a migration that may have begun is passed over by a rollback of earlier ones",
    1468,
    "run/prepare/unstarted-migrations.ts",
    "if (found === undefined || (await mayHaveBegun(found, target)))",
    "if (found === undefined)",
  ),
  bug(
    "a version is released though rows that came after it are still to be reinserted",
    12_275,
    "run/execute/execute.ts",
    "if (isSince(planned, rest)) kept.push(planned);",
    "if (kept.length > rest.length) kept.push(planned);",
  ),
  bug(
    "a saved plan is carried out on another table than the one that it was made for",
    3054,
    "plan/document/saved-tables.ts",
    'if (identity === "another")',
    'if (identity === "another" && now.newest < version)',
  ),
];

/** Those that are planted for every commit: at least one of each mechanism. The others are planted every night. */
export const forEachCommit: readonly string[] = [
  "a group without calls is recorded by a run that was taken over",
  "the first record of an epoch comes after another run has taken over",
  "a holder is sure of a lease that has run out",
  "an epoch is taken by a plain append",
  "the ledger forgets what a dead holder was at",
  "who acted late says nothing",
  "what an action of several commits loses is not recorded",
  "a run goes on where its own way back would have been",
  "metadata that others set during a rename is not set again",
  "what comes late to a table that was recreated is not noticed",
  "a kept version is released before the ledger says that it is no longer needed",
  "a torn list of tables is believed, and what is recorded next refers to it",
  "a saved plan that accepts a loss is carried out after rows were written",
  "a rollback does not ask about the rows that it drops",
];

import type { LedgerMigration } from "../../ledger/state/fold-migration.ts";
import { isHalfDone } from "../../ledger/state/ledger-state.ts";
import { formatMigration, formatVersion } from "../../migrations/file-name.ts";
import { status, type StatusResult } from "../../commands/status.ts";
import { defineCommand, withDatabases, type Context } from "../command/command.ts";
import type { CommandResult } from "../command/exit-code.ts";
import { keepHeapSmall } from "../command/small-heap.ts";
import { bundleFlags, switchFlag, type FlagValues } from "../command/flags.ts";
import type { Styled } from "../command/output.ts";
import type { Session } from "../../session/session.ts";
import { newDatabaseNotes } from "../render/new-database.ts";
import { renderDuration, renderTime } from "../render/times.ts";
import { renderTable, type TableRow } from "../render/table.ts";
import {
  absenceWords,
  begunIn,
  checkedStatus,
  isUnknown,
  lastRanIn,
  preparingWords,
  statusDocument,
  waysOut,
} from "../render/status.ts";
import { staleText } from "../../run/stale-text.ts";
import { deferralText } from "../../run/deferral-text.ts";
import { count } from "../../errors/migrate-error.ts";
import type * as shapes from "../json/inspect.ts";

const flags = {
  check: switchFlag("exit with 3 if a migration is pending, and with 4 if migrate up would refuse to run"),
  ...bundleFlags,
};

export type StatusFlags = FlagValues<typeof flags>;

export const statusCommand = defineCommand({
  describe: "list applied and pending migrations",
  examples: [
    ["migrate status", "list applied and pending migrations"],
    ["migrate status --check", "in CI: exit with 3 if a migration is pending"],
  ],
  exits: {
    pending: "with --check: a migration is pending",
    refused:
      "with --check: migrate up would refuse to run, because an applied file was changed, or is missing while another migration is pending, a pending migration has a lower number than one that has run, the file of an unfinished migration is missing, a rollback is unfinished, a squashed or renumbered file can't take the place of what ran, or the ledger contradicts itself",
  },
  flags,
  async run(context) {
    keepHeapSmall();
    return await withDatabases(
      context,
      async (session) => showStatus(await status(session.options), session, context),
      async (databases) => await databases.status(),
    );
  },
});

function showStatus(
  found: StatusResult,
  { options, folder }: Session,
  { flags, output }: Context<StatusFlags>,
): CommandResult {
  const target = options.target.name;
  if (output.json) output.data<typeof shapes.status>(statusDocument(found, target));
  const { applied, reverting, pending, missing, lease, doubts, late, deferred, stale, problem, changed } = found;
  const gone = new Set(missing);
  const begun = begunIn(found);
  const absence = absenceWords(flags.bundle, folder);
  const lastRan = lastRanIn(found);
  const rows: readonly TableRow[] = [
    ...applied.map((one) => ({
      cells: [
        state("applied"),
        formatMigration(one),
        renderTime(one.at),
        one.isBaselined || one.detail !== undefined ? "" : renderDuration(one.duration),
      ],
      note: [one.isBaselined ? "never ran here, baselined" : (one.detail ?? ""), gone.has(one) ? absence : ""]
        .filter((words) => words !== "")
        .join(", "),
    })),
    ...reverting.map((one) => ({ cells: [state("reverting"), formatMigration(one)], ...reversalText(one) })),
    ...begun.map(({ version, known }) => ({
      cells: [state("begun"), known === undefined ? formatVersion(version) : formatMigration(known)],
      note: `${absence}, ${known === undefined ? "and how far it ran is not recorded" : partText(known)}`,
      problem: known?.detail,
    })),
    ...pending.map((one) => ({
      cells: [state("pending"), formatMigration(one)],
      note: pendingText(one, lastRan, found.holder !== undefined),
      problem: one.partial?.detail,
    })),
  ];
  output.results(renderTable(rows, output));
  output.result(`${count(applied.length, "migration")} applied, ${pending.length} pending on ${target}`);
  if (lease !== undefined) output.result(lease);
  for (const words of doubts) output.result({ style: "yellow", text: words });
  for (const { version, action } of late)
    output.result(
      `action ${action} of ${formatVersion(version)} may have come late; the next migrate up looks at its table`,
    );
  for (const one of deferred) output.result(deferralText(one));
  for (const one of stale) output.result({ style: "yellow", text: staleText(one) });
  for (const words of waysOut(found)) output.result(words);
  for (const text of [...changed.map((one) => one.problem), ...(problem === undefined ? [] : [problem])])
    output.result({ style: "red", text });
  for (const note of newDatabaseNotes(found.newDatabase)) output.progress(note);
  return flags.check === true ? checkedStatus(found) : undefined;
}

/** `lastRan`: what `down` would roll back. */
function pendingText(
  one: StatusResult["pending"][number],
  lastRan: LedgerMigration | undefined,
  isHeld: boolean,
): string {
  const { partial, underWay, preparing } = one;
  const doubt = underWay ? "under way" : isUnknown(one, isHeld) ? "in doubt" : "";
  const isNothingDone = partial !== undefined && !isHalfDone(partial) && doubt === "";
  const back = isNothingDone && lastRan !== undefined ? `migrate down would roll back ${formatMigration(lastRan)}` : "";
  const prepared = preparing.map((column) => preparingWords(column, Date.now()));
  return [doubt, partText(partial, underWay), back, ...prepared].filter((words) => words !== "").join(", ");
}

function partText(partial: StatusResult["pending"][number]["partial"], underWay = false): string {
  if (partial === undefined) return "";
  const { step, total, midway, detail, at } = partial;
  // Other writers must know this: a column that their appends name may be missing, or there may be one that they do not
  // name.
  const between =
    midway === undefined ? "" : `, and it ${underWay ? "is" : "stopped"} between two commits of action ${step + 1}`;
  // The time shows whether a failure is the one that is looked into.
  const ending = detail !== undefined ? ` as of ${renderTime(at)}` : underWay ? "" : ": interrupted";
  return `${step} of ${count(total, "action")} done${between}${ending}`;
}

function reversalText({ reversal }: StatusResult["reverting"][number]): Pick<TableRow, "note" | "problem"> {
  const { step, total, detail } = reversal!;
  const note = `${step} of ${count(total, "action")} that roll it back done; the next migrate down resumes it`;
  return { note, problem: detail };
}

const colours = { applied: "green", pending: "yellow", begun: "red", reverting: "red" } as const;

function state(text: keyof typeof colours): Styled {
  return { style: colours[text], text };
}

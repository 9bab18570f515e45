import { basename } from "node:path";
import { formatMigration, formatVersion } from "../../migrations/file-name.ts";
import { status, type StatusResult } from "../../commands/status.ts";
import { defineCommand, withTarget } from "../command/command.ts";
import { bundleFlags, switchFlag } from "../command/flags.ts";
import { renderDuration, renderTable, renderTime } from "../render/events.ts";
import { count } from "../../errors/migrate-error.ts";

export const statusCommand = defineCommand({
  usage: "status",
  describe: "list applied and pending migrations",
  flags: {
    check: switchFlag(
      "exit with 3 if a migration is pending; exit with 4 if migrate up would refuse to run: an applied file was changed, the file of an unfinished migration is missing, a rollback is unfinished, or the ledger contradicts itself",
    ),
    ...bundleFlags,
  },
  async run(context) {
    const { flags, output } = context;
    const [found, target] = await withTarget(context, status);
    output.data(toDocument(found, target));
    const { applied, reverting, pending, missing, lease, doubts, late, problem, changed } = found;
    const gone = new Set(missing);
    const begun = begunIn(found);
    const absence = flags.bundle === undefined ? "its file is not here" : `it is not in ${basename(flags.bundle)}`;
    const rows = [
      ...applied.map((one) => [
        "applied",
        formatMigration(one),
        renderTime(one.at),
        one.isBaselined ? "" : renderDuration(one.duration),
        [...(one.isBaselined ? ["never ran here, baselined"] : []), ...(gone.has(one) ? [absence] : [])].join(", "),
      ]),
      ...reverting.map((one) => ["reverting", formatMigration(one), "", "", reversalText(one)]),
      ...begun.map(({ version, known }) => [
        "begun",
        known === undefined ? formatVersion(version) : formatMigration(known),
        "",
        "",
        `${absence}, ${known === undefined ? "and how far it ran is not recorded" : partText(known)}`,
      ]),
      ...pending.map((one) => ["pending", formatMigration(one), "", "", pendingText(one)]),
    ];
    for (const line of renderTable(rows)) output.result(line);
    output.result(`${count(applied.length, "migration")} applied, ${pending.length} pending on ${target}`);
    if (lease !== undefined) output.result(lease);
    for (const words of doubts) output.result(words);
    for (const { version, action } of late)
      output.result(
        `action ${action} of ${formatVersion(version)} may have come late; the next migrate up looks at its table`,
      );
    for (const one of changed) output.result(one.problem);
    if (problem !== undefined) output.result(problem);
    if (flags.check !== true) return undefined;
    if (problem !== undefined || [begun, reverting, changed].some(({ length }) => length > 0)) return "refused";
    return pending.length > 0 ? "pending" : undefined;
  },
});

/**
 * Migrations that another release has begun and not finished. Those that are being rolled back are listed separately.
 */
function begunIn({ begun }: StatusResult): StatusResult["begun"] {
  return begun.filter(({ known }) => known?.reversal === undefined);
}

function pendingText({ partial, inDoubt, underWay }: StatusResult["pending"][number]): string {
  const doubt = underWay ? "under way" : inDoubt ? "in doubt" : "";
  return [doubt, partText(partial, underWay ? "" : undefined)].filter((words) => words !== "").join(", ");
}

/** `otherwise`: why it is partly done, if the ledger does not state that. */
function partText(partial: StatusResult["pending"][number]["partial"], otherwise = ": interrupted"): string {
  if (partial === undefined) return "";
  const { step, total, midway, detail } = partial;
  // Other writers must know this: a column that their appends name may be missing, or there may be one that they do not
  // name.
  const between = midway === undefined ? "" : `, and it stopped between two commits of action ${step + 1}`;
  return `${step} of ${count(total, "action")} done${between}${detail === undefined ? otherwise : `: ${detail}`}`;
}

function reversalText({ reversal }: StatusResult["reverting"][number]): string {
  const { step, total, detail } = reversal!;
  const why = detail === undefined ? "" : `: ${detail}`;
  return `${step} of ${count(total, "action")} that roll it back done${why}; the next migrate down resumes it`;
}

function progressOf(partial: StatusResult["pending"][number]["partial"]) {
  return { done: partial?.step ?? 0, detail: partial?.detail };
}

function toDocument(found: StatusResult, target: string) {
  const { applied, reverting, pending, missing, holder, lease, doubts, late, problem, changed } = found;
  const gone = new Set(missing.map(({ version }) => version));
  return {
    target,
    applied: applied.map(({ version, name, at, duration, by, checksum, isBaselined = false }) => ({
      version,
      name,
      at: new Date(at).toISOString(),
      duration,
      by,
      checksum,
      baselined: isBaselined,
      missing: gone.has(version),
    })),
    reverting: reverting.map(({ version, name, reversal }) => {
      const { step, total, detail } = reversal!;
      return { version, name, done: step, total, detail };
    }),
    begun: begunIn(found).map(({ version, known }) => ({ version, name: known?.name, ...progressOf(known) })),
    changed,
    pending: pending.map(({ version, name, file, bundledFile = file, partial, inDoubt, underWay }) => ({
      version,
      name,
      file: bundledFile,
      ...progressOf(partial),
      inDoubt,
      underWay,
    })),
    holder,
    lease,
    doubts,
    late,
    problem,
  };
}

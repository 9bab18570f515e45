import { z } from "zod";
import { formatMigration, formatVersion } from "../../migrations/file-name.ts";
import { status, type StatusResult } from "../../run/migrator.ts";
import { parseFlags, switchFlag, withSession, type Command } from "../command.ts";
import { amiss, done, somethingPending } from "../exit-code.ts";
import { renderDuration, renderTable, renderTime } from "../render.ts";
import { count } from "../../errors.ts";

const statusFlags = z.looseObject({ check: switchFlag });

export const statusCommand: Command = {
  usage: "status",
  describe: "show what is applied and what is pending",
  switches: { check: "exit with 3 when something is pending, with 4 when the ledger contradicts itself" },
  async run(context) {
    const { flags, output } = context;
    const { check } = parseFlags(statusFlags, flags);
    const [found, target] = await withSession(context, {}, async ({ options }) => [
      await status(options),
      options.target.name,
    ]);
    output.data(toDocument(found, target));
    const { applied, pending, missing, lease, late, problem } = found;
    const gone = new Set(missing);
    const rows = [
      ...applied.map((one) => [
        "applied",
        formatMigration(one),
        renderTime(one.at),
        renderDuration(one.duration),
        gone.has(one) ? "its file is not here" : "",
      ]),
      ...pending.map((one) => ["pending", formatMigration(one), "", "", partText(one.partial)]),
    ];
    for (const line of renderTable(rows)) output.result(line);
    output.result(`${count(applied.length, "migration")} applied, ${pending.length} pending on ${target}`);
    if (lease !== undefined) output.result(lease);
    for (const { version, action } of late)
      output.result(
        `action ${action} of ${formatVersion(version)} may have come late; the next migrate up looks at its table`,
      );
    if (problem !== undefined) output.result(problem);
    if (check !== true) return done;
    return problem !== undefined ? amiss : pending.length > 0 ? somethingPending : done;
  },
};

function partText(partial: StatusResult["pending"][number]["partial"]): string {
  return partial === undefined
    ? ""
    : `${partial.step} of ${count(partial.total, "action")} done: ${partial.detail ?? "interrupted"}`;
}

function toDocument({ applied, pending, missing, holder, lease, late, problem }: StatusResult, target: string) {
  const gone = new Set(missing.map(({ version }) => version));
  return {
    target,
    applied: applied.map(({ version, name, at, duration, by, checksum }) => ({
      version,
      name,
      at: new Date(at).toISOString(),
      duration,
      by,
      checksum,
      missing: gone.has(version),
    })),
    pending: pending.map(({ version, name, file, partial }) => ({
      version,
      name,
      file,
      done: partial?.step ?? 0,
      detail: partial?.detail,
    })),
    holder,
    lease,
    late,
    problem,
  };
}

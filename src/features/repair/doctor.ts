/** Finds out on scratch tables what a target can do: its calls, its answers, and whether it can keep a ledger. */
import { count, isMigrateError, type MigrateError } from "../../errors/migrate-error.ts";
import { journalOf } from "../../ledger/journal/open-journal.ts";
import { foldLedger } from "../../ledger/state/fold.ts";
import { takeLease } from "../../ledger/lease/lease.ts";
import { systemClock, type Clock } from "../../time/clock.ts";
import { clientsOf, formatWords, type TableFormat } from "../../schema/table-format.ts";
import type { TargetCheck } from "../../targets/contract/target-check.ts";
import type { Target } from "../../targets/contract/target.ts";
import { checkTarget, newToken, type Note } from "../../run/check/check-target.ts";
import type { Deferral } from "../../run/deferral-text.ts";
import { listDeferred } from "../../run/deferred/find-deferred.ts";
import { computingOf, runContext, type MigratorOptions } from "../../run/run-context.ts";

export type { TargetCheck } from "../../targets/contract/target-check.ts";

interface DoctorResult {
  readonly findings: readonly TargetCheck[];
  /** Whether the target does everything that `migrate up` relies on. */
  readonly fit: boolean;
  /** Scratch tables that the target could not drop. */
  readonly leftBehind: readonly string[];
}

const racers = 8;

/** Passes each finding to `tell` as it is made, and at the end the tables left behind. Throws if unreachable. */
export async function doctor(
  target: Target,
  ledger: string,
  tell: (news: TargetCheck | { readonly leftBehind: readonly string[] }) => void = () => {},
  clock: Clock = systemClock,
): Promise<DoctorResult> {
  const findings: TargetCheck[] = [];
  const note: Note = (what, found, detail, needed = true) => {
    const finding = { what, found, needed, detail };
    findings.push(finding);
    tell(finding);
  };
  for (const { what, found, detail, needed } of (await target.assumptions?.()) ?? []) note(what, found, detail, needed);
  if (findings.some(({ found, needed }) => needed && !found)) return { findings, fit: false, leftBehind: [] };
  const tables = await target.listTables();
  note("lists its tables", true, `there are ${tables.length}`);
  const damaged = target.damaged === undefined ? await damagedTable(target, tables) : target.damaged(undefined, ledger);
  if (damaged !== undefined) note("has whole files of its tables", false, damaged.message);
  tellFormats(target, tables.filter((table) => table !== ledger).toSorted(), note);

  const token = newToken();
  let leftBehind: readonly string[] = [];
  try {
    await checkTarget({ target, ledger, token, lists: 10, note, clock });
    if (findings.every(({ found, needed }) => found || !needed)) await locks(target, `${ledger}.${token}`, note);
  } finally {
    // A failing cleanup must not replace the error that stopped the checks: only the tables' common prefix is reported.
    leftBehind = await cleanUp(target, token).catch(() => [`${ledger}.${token}…`]);
    tell({ leftBehind });
  }
  return { findings, fit: findings.every(({ found, needed }) => found || !needed), leftBehind };
}

/** The error about the first table that the engine can't open because of a damaged file, where we can't look at files. */
async function damagedTable(target: Target, tables: readonly string[]): Promise<MigrateError | undefined> {
  for (const table of target.capabilities.fences ? tables : [])
    try {
      await target.describeTable(table);
    } catch (error) {
      if (isMigrateError(error, "ERR_DAMAGED")) return error;
      if (isMigrateError(error) && error.outcome !== "failed") throw error;
    }
  return undefined;
}

/** The deferred indexes of the tables, or why they are unknown: a ledger that can't be read is no fault of the target. */
export async function deferredIndexes(
  options: MigratorOptions,
): Promise<{ readonly deferred: readonly Deferral[]; readonly deferredProblem?: string }> {
  const context = runContext(options);
  try {
    return { deferred: await listDeferred(context, foldLedger(await context.journal.read())) };
  } catch (error) {
    if (!isMigrateError(error) || isMigrateError(error, "ERR_INTERRUPTED")) throw error;
    return { deferred: [], deferredProblem: error.message };
  }
}

/** Whether computed columns are loaded with files of their own; undefined where they never are. */
export async function loadsFiles(options: MigratorOptions): Promise<TargetCheck | undefined> {
  const { findLoader } = await computingOf(options);
  const loader = await findLoader(options);
  return (
    loader && {
      what: "loads computed columns with Python",
      found: loader.usable,
      needed: false,
      detail: loader.text,
    }
  );
}

/** Drops the scratch tables. Returns those that could not be dropped. */
async function cleanUp(target: Target, token: string): Promise<readonly string[]> {
  const left: string[] = [];
  for (const table of await target.listTables()) {
    // Some were made without the token's hyphen, and a service may list them in other letters.
    if (!table.toLowerCase().replaceAll("-", "").includes(token.replaceAll("-", ""))) continue;
    const dropped = target.discard?.(table).then(() => true);
    if ((await dropped?.catch(() => false)) !== true) left.push(table);
  }
  return left;
}

/** Notes which clients can read and write the existing tables. Skips tables whose format is unknown. */
function tellFormats({ formatOf }: Target, tables: readonly string[], note: Note): void {
  const alike = new Map<string, { readonly format: TableFormat; readonly names: string[] }>();
  for (const table of tables) {
    const format = formatOf?.(table);
    if (format === undefined) continue;
    const words = formatWords(format);
    alike.set(words, { format, names: [...(alike.get(words)?.names ?? []), table] });
  }
  for (const [words, { format, names }] of alike) {
    const rest = names.length - 3;
    const some = `${names.slice(0, 3).join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
    note(`has ${count(names.length, "table")} in ${words}`, true, `${some}; ${clientsOf(format)}`, false);
  }
}

/** Checks that of several runs that take the same epoch of a ledger at once, exactly one gets the answer that it holds it. */
async function locks(target: Target, name: string, note: Note): Promise<void> {
  const ledger = `${name}.ledger`;
  const told = await Promise.allSettled(
    Array.from({ length: racers }, async (_, index) => {
      const runner = { by: "doctor", run: `racer ${index}`, tool: "" };
      const terms = { duration: 1_000, clock: systemClock };
      const lease = await takeLease(journalOf(target, ledger), foldLedger([]), runner, undefined, terms);
      lease?.abandon();
      return lease !== undefined;
    }),
  );
  const winners = told.filter((one) => one.status === "fulfilled" && one.value).length;
  const failed = told.find((one) => one.status === "rejected");
  if (isMigrateError(failed?.reason) && failed.reason.outcome === "unreachable") throw failed.reason;
  const problem = (failed && target.explain(failed.reason)) ?? `${winners} got that answer`;
  note(
    `tells one of ${racers} that it holds the lease`,
    winners === 1,
    winners === 1 ? `kept in ${target.ledger.kind}` : problem,
  );
}

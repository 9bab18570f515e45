/** Finds out on scratch tables what a target can do: its calls, its answers, and whether it can keep a ledger. */
import { randomUUID } from "node:crypto";
import { count, isMigrateError } from "../errors/migrate-error.ts";
import { journalOf } from "../ledger/journal/open-journal.ts";
import { foldLedger } from "../ledger/state/fold.ts";
import { takeLease } from "../ledger/lease/lease.ts";
import { systemClock } from "../time/clock.ts";
import type { Action } from "../actions/model/action.ts";
import { tableAfter } from "../actions/apply-action.ts";
import type { Alteration } from "../actions/model/alteration.ts";
import type { Column } from "../schema/data-type.ts";
import { clientsOf, formatWords, type TableFormat } from "../schema/table-format.ts";
import { columnPaths, differences, type Table } from "../schema/table.ts";
import type { Target } from "../targets/contract/target.ts";
import { hasColumns } from "../run/check/probe-columns.ts";
import type { Deferral } from "../run/deferral-text.ts";
import { listDeferred } from "../run/deferred/find-deferred.ts";
import { runContext, type MigratorOptions } from "../run/run-context.ts";

export interface TargetCheck {
  readonly what: string;
  readonly found: boolean;
  /** Whether `migrate up` relies on it. */
  readonly needed: boolean;
  /** What the target answered, or what follows from the finding. */
  readonly detail?: string | undefined;
}

interface DoctorResult {
  readonly findings: readonly TargetCheck[];
  /** Whether the target does everything that `migrate up` relies on. */
  readonly fit: boolean;
  /** Scratch tables that the target could not drop. */
  readonly leftBehind: readonly string[];
}

const racers = 8;
const column = (name: string, type: Column["type"], nullable = true): Column => ({ name, type, nullable });
const scratch: readonly Column[] = [
  column("id", { kind: "int32" }, false),
  column("title", { kind: "utf8" }),
  column("source", { kind: "struct", fields: [column("url", { kind: "utf8" })] }),
];

/** Passes each finding to `tell` as it is made, and at the end the tables left behind. Throws if unreachable. */
export async function doctor(
  target: Target,
  ledger: string,
  tell: (news: TargetCheck | { readonly leftBehind: readonly string[] }) => void = () => {},
): Promise<DoctorResult> {
  const findings: TargetCheck[] = [];
  const note: Note = (what, found, detail, needed = true) => {
    const finding = { what, found, needed, detail };
    findings.push(finding);
    tell(finding);
  };
  const tables = await target.listTables();
  note("lists its tables", true, `there are ${tables.length}`);
  tellFormats(target, tables.filter((table) => table !== ledger).toSorted(), note);

  const name = `${ledger}.doctor-${randomUUID().slice(0, 8)}`;
  let leftBehind: readonly string[] = [];
  try {
    if (await createsOnce(target, name, note)) {
      await alters(target, name, note);
      await locks(target, name, note);
    }
  } finally {
    // A failing cleanup must not replace the error that stopped the checks: only the tables' common prefix is reported.
    leftBehind = await cleanUp(target, name).catch(() => [`${name}…`]);
    tell({ leftBehind });
  }
  return { findings, fit: findings.every(({ found, needed }) => found || !needed), leftBehind };
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

/** Drops the scratch tables. Returns those that could not be dropped. */
async function cleanUp(target: Target, name: string): Promise<readonly string[]> {
  const left: string[] = [];
  for (const table of await target.listTables()) {
    if (!table.startsWith(name)) continue;
    const dropped = target.discard?.(table).then(() => true);
    if ((await dropped?.catch(() => false)) !== true) left.push(table);
  }
  return left;
}

/** Adds a finding. `needed` is true by default. */
type Note = (what: string, found: boolean, detail?: string, needed?: boolean) => void;

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

async function createsOnce(target: Target, table: string, note: Note): Promise<boolean> {
  const refused = await refusal(target, { kind: "createTable", table, columns: scratch });
  note("creates a table", refused === undefined, refused?.words);
  if (refused !== undefined) return false;
  const format = target.formatOf?.(table);
  if (format !== undefined) note(`makes new tables in ${formatWords(format)}`, true, clientsOf(format), false);
  const lacking = await listsWithout(target, table);
  const lack = lacking === 0 ? undefined : `${lacking} of ${lists} lists lack it, and the ledger is kept by such lists`;
  note("lists the table that it has just created, each time", lacking === 0, lack);
  const again = await refusal(target, { kind: "createTable", table, columns: [scratch[0]!] });
  note("refuses a second create of the same name", again !== undefined, again?.words);
  const { describes } = target.capabilities;
  const words = describes ? differences({ columns: scratch }, (await target.describeTable(table))?.table) : [];
  const detail = describes ? words.join("; ") : "tables changed by hand are noticed only when a step is refused";
  note("describes a table as it was made", describes && words.length === 0, detail, describes);
  return true;
}

const lists = 10;

/** Lists the tables `lists` times, half of them in sequence, half in parallel; counts the lists without `table`. */
async function listsWithout({ listTables }: Target, table: string): Promise<number> {
  const inTurn: (readonly string[])[] = [];
  for (let asked = 0; asked < lists / 2; asked++) inTurn.push(await listTables());
  const atOnce = await Promise.all(Array.from({ length: lists / 2 }, () => listTables()));
  return [...inTurn, ...atOnce].filter((names) => !names.includes(table)).length;
}

async function alters(target: Target, table: string, note: Note): Promise<void> {
  let state: Table = { columns: scratch };
  const alter = async (what: string, ...alterations: readonly Alteration[]) => {
    const action: Action = { kind: "alterColumns", table, alterations };
    const refused = await refusal(target, action, state);
    if (refused !== undefined) return note(what, false, refused.words);
    state = tableAfter(new Map([[table, state]]), action);
    // A success answer proves nothing, so the table is checked.
    const found = await isSo(target, table, state);
    note(what, found, found ? undefined : "it reports success, and has not done it");
  };
  // After a lost answer, these answers are the only way to check a column on a target that can't describe tables.
  const needed = !target.capabilities.describes;
  const attempt = async (alteration: Alteration) =>
    await refusal(target, { kind: "alterColumns", table, alterations: [alteration] }, state);
  const refuses = async (what: string, alteration: Alteration) => {
    const refused = await attempt(alteration);
    note(what, refused?.clear === true, refused?.words, needed);
  };
  await alter("renames a column", { path: "title", rename: "headline" });
  await alter("renames a nested column", { path: "source.url", rename: "address" });
  await alter("retypes a column", { path: "id", type: { kind: "int64" } });
  await alter("lets a column hold nulls", { path: "id", nullable: true });
  await alter("lets a column hold no nulls", { path: "headline", nullable: false });
  const same = await attempt({ path: "headline", rename: "headline" });
  note("accepts a column renamed to its own name", same === undefined, same?.words, needed);
  await refuses("refuses to rename a column that is not there", { path: "title", rename: "title" });
  await refuses("refuses a cast that the engine can't do", { path: "headline", type: { kind: "int64" } });
}

async function isSo(target: Target, name: string, state: Table): Promise<boolean> {
  if (target.capabilities.describes) return differences(state, (await target.describeTable(name))?.table).length === 0;
  return await hasColumns(name, state, columnPaths(state.columns), { target, clock: systemClock });
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
  const problem = (failed && target.explain(failed.reason)) ?? `${winners} got that answer`;
  note(
    `tells one of ${racers} that it holds the lease`,
    winners === 1,
    winners === 1 ? `kept in ${target.ledger.kind}` : problem,
  );
}

interface Refusal {
  readonly words: string;
  /** Whether the answer means that nothing was done, as 4xx does and 5xx does not. */
  readonly clear: boolean;
}

const stopping: ReadonlySet<string> = new Set(["ERR_TARGET_UNREACHABLE", "ERR_CREDENTIALS"]);

/** Why the target refused an action; undefined if it did not. Throws if it is unreachable, or can't be used at all. */
async function refusal(target: Target, action: Action, state?: Table): Promise<Refusal | undefined> {
  const seen = target.capabilities.describes ? await target.describeTable(action.table) : undefined;
  try {
    await target.execute(action, seen ?? (state && { table: state, version: undefined }));
    return undefined;
  } catch (error) {
    if (isMigrateError(error) && (error.outcome === "usage" || stopping.has(error.code))) throw error;
    return { words: target.explain(error), clear: target.verdict(error).kind === "refused" };
  }
}

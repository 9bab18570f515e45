/**
 * Finds out on scratch tables whether a target does what a run relies on: `migrate doctor` reports every finding, and the
 * first run on a service of which only the document is known refuses it before anything is changed.
 */
import { randomUUID } from "node:crypto";
import { isMigrateError, MigrateError } from "../../errors/migrate-error.ts";
import type { Action } from "../../actions/model/action.ts";
import { tableAfter } from "../../actions/apply-action.ts";
import type { Alteration } from "../../actions/model/alteration.ts";
import { longestMarker } from "../../ledger/journal/marker-name.ts";
import type { Column } from "../../schema/data-type.ts";
import { parsePath } from "../../schema/path.ts";
import { clientsOf, formatWords } from "../../schema/table-format.ts";
import { differences, type Table } from "../../schema/table.ts";
import { patience, retry } from "../../targets/contract/retry.ts";
import type { Target } from "../../targets/contract/target.ts";
import type { TargetCheck } from "../../targets/contract/target-check.ts";
import { systemClock, type Clock } from "../../time/clock.ts";
import { hasColumns } from "./probe-columns.ts";

/** Adds a finding. `needed` is true by default. */
export type Note = (what: string, found: boolean, detail?: string, needed?: boolean) => void;

export interface Checking {
  readonly target: Target;
  readonly ledger: string;
  /** Part of the name of every scratch table. */
  readonly token: string;
  /** How many lists are requested to find one that lacks a new table. */
  readonly lists: number;
  readonly note: Note;
  readonly clock?: Clock | undefined;
}

const column = (name: string, type: Column["type"]): Column => ({ name, type, nullable: true });
const scratch: readonly Column[] = [
  column("id", { kind: "int64" }),
  column("title", { kind: "utf8" }),
  column("source", { kind: "struct", fields: [column("url", { kind: "utf8" })] }),
];
/** A number that is too large for int32, and no title: some changes must be refused. */
const rows = [{ id: 2 ** 40, title: null, source: { url: "" } }];

export function newToken(): string {
  return `check-${randomUUID().slice(0, 8)}`;
}

/** Throws ERR_TARGET_UNFIT if the target does not do what a run relies on, and the target's error if it is unreachable. */
export async function requireFit(target: Target, ledger: string, clock: Clock): Promise<void> {
  const lacking: TargetCheck[] = [];
  const note: Note = (what, found, detail, needed = true) => {
    if (!found && needed) lacking.push({ what, found, needed, detail });
  };
  await checkTarget({ target, ledger, token: newToken(), lists: 2, note, clock });
  if (lacking.length === 0) return;
  const problem = lacking.map(({ what, detail }) => `${what}${detail === undefined ? "" : ` (${detail})`}`).join("; ");
  throw new MigrateError("ERR_TARGET_UNFIT", { what: `target ${target.name}`, problem });
}

/** Notes each finding. Later checks are left out if they would only repeat an earlier finding. */
export async function checkTarget(checking: Checking): Promise<void> {
  const { target, ledger, token, note } = checking;
  const inMarkers = target.ledger.kind === "markers";
  // The names of markers are longer than those of other tables, and may have capital letters.
  const table = inMarkers ? `${ledger}.${token}-A`.padEnd(longestMarker, "x") : `${ledger}.${token}`;
  if (await createsOnce(table, inMarkers, checking)) await alters(table, checking);
  else if (inMarkers) note("keeps the names of the ledger's tables", false, await whichNames(checking));
}

/** Whether the table was created and is listed under its name. */
async function createsOnce(table: string, inMarkers: boolean, checking: Checking): Promise<boolean> {
  const { target, note, lists } = checking;
  const refused = await refusal(checking, { kind: "createTable", table, columns: scratch, rows });
  const isMade = refused === undefined || (refused.mayBeDone && (await target.listTables()).includes(table));
  note("creates a table", isMade, isMade ? undefined : refused.words);
  if (!isMade) return false;
  const format = target.formatOf?.(table);
  if (format !== undefined) note(`makes new tables in ${formatWords(format)}`, true, clientsOf(format), false);
  const lacking = await listsWithout(target, table, lists);
  const lack = lacking === 0 ? undefined : `${lacking} of ${lists} lists lack it, and the ledger is kept by such lists`;
  note("lists the table that it has just created, each time", lacking === 0, lack);
  if (inMarkers && lacking === lists) return false;
  const again = await refusal(checking, { kind: "createTable", table, columns: [scratch[0]!] });
  note("refuses a second create of the same name", again !== undefined, again?.words);
  const { describes } = target.capabilities;
  const words = describes ? differences({ columns: scratch }, (await target.describeTable(table))?.table) : [];
  const detail = describes ? words.join("; ") : "tables changed by hand are noticed only when a step is refused";
  note("describes a table as it was made", describes && words.length === 0, detail, describes);
  return true;
}

/** Lists the tables `lists` times, half of them in sequence, half in parallel; counts the lists without `table`. */
async function listsWithout({ listTables }: Target, table: string, lists: number): Promise<number> {
  const inTurn: (readonly string[])[] = [];
  for (let asked = 0; asked < lists / 2; asked++) inTurn.push(await listTables());
  const atOnce = await Promise.all(Array.from({ length: lists / 2 }, () => listTables()));
  return [...inTurn, ...atOnce].filter((names) => !names.includes(table)).length;
}

/** Which of the names that the ledger needs are the problem, as text. */
async function whichNames(checking: Checking): Promise<string> {
  const { target, token } = checking;
  const plain = token.replaceAll("-", "");
  const problems: string[] = [];
  for (const [what, table] of [
    ["names of letters and digits", plain],
    ["dots", `${plain}.a`],
    ["underscores at the beginning", `_${plain}`],
    ["capital letters", `${plain}A`],
    [`names of ${longestMarker} characters`, plain.padEnd(longestMarker, "x")],
  ] as const) {
    const refused = await refusal(checking, { kind: "createTable", table, columns: scratch });
    if (refused !== undefined) problems.push(`${what}: ${refused.words}`);
    else if (!(await target.listTables()).includes(table)) problems.push(`${what}: the list has another name`);
  }
  return problems.join("; ");
}

async function alters(table: string, checking: Checking): Promise<void> {
  const { target, note, clock = systemClock } = checking;
  const { describes } = target.capabilities;
  let state: Table = { columns: scratch };
  // After a lost answer, these answers are the only way to check a column on a target that can't describe tables.
  const needed = !describes;
  const attempt = async (alteration: Alteration) =>
    await refusal(checking, { kind: "alterColumns", table, alterations: [alteration] }, state);
  // A success answer proves nothing, so the table is checked.
  const isSo = async ({ path, rename }: Alteration): Promise<boolean> => {
    if (describes) return differences(state, (await target.describeTable(table))?.table).length === 0;
    if (rename === undefined) return true;
    return await hasColumns(table, state, [[...parsePath(path).slice(0, -1), rename]], { target, clock });
  };
  const accepts = async (what: string, alteration: Alteration, whyRefused = ""): Promise<boolean> => {
    const refused = await attempt(alteration);
    const canBeShown = describes || alteration.rename !== undefined;
    if (refused !== undefined && !(refused.mayBeDone && canBeShown)) {
      note(what, false, `${refused.words}${whyRefused}`);
      return false;
    }
    state = tableAfter(new Map([[table, state]]), { kind: "alterColumns", table, alterations: [alteration] });
    const found = await isSo(alteration);
    note(what, found, found ? undefined : (refused?.words ?? "it reports success, and has not done it"));
    return found;
  };
  const repeats = async (what: string, alteration: Alteration) => {
    const refused = await attempt(alteration);
    note(what, refused === undefined, refused?.words, needed);
  };
  const refuses = async (what: string, alteration: Alteration) => {
    const refused = await attempt(alteration);
    const isClear = refused?.clear === true;
    note(what, isClear, isClear ? refused.words : `it answers ${refused?.words ?? "with success"}`, needed);
  };
  await repeats("accepts a column renamed to its own name", { path: "title", rename: "title" });
  if (!(await accepts("renames a column", { path: "title", rename: "headline" }))) return;
  await refuses("refuses to rename a column that is not there", { path: "title", rename: "title" });
  await accepts("renames a nested column", { path: "source.url", rename: "address" });
  const wide: Alteration = { path: "headline", type: { kind: "largeUtf8" } };
  await accepts("retypes a column", wide, '; it may know its types by other names: see "types" in the configuration');
  await repeats("accepts a retype to the type that the column has", wide);
  await refuses("refuses a cast that the engine can't do", { path: "headline", type: { kind: "int64" } });
  await accepts("lets a column hold no nulls", { path: "id", nullable: false });
  await repeats("accepts a nullability that the column has", { path: "id", nullable: false });
  await accepts("lets a column hold nulls", { path: "id", nullable: true });
  // If these are not refused, the table is no longer as it was.
  await refuses("refuses a retype that a value does not fit", { path: "id", type: { kind: "int32" } });
  await refuses("refuses to forbid nulls where there are some", { path: "headline", nullable: false });
}

interface TargetRefusal {
  readonly words: string;
  /** Whether the answer means that nothing was done, as 4xx does and 5xx does not. */
  readonly clear: boolean;
  /** Whether an earlier try got no such answer, so that it may have done what the last one was refused. */
  readonly mayBeDone: boolean;
}

/** Why the target refused an action; undefined if it did not. Throws if it is unreachable, or can't be used at all. */
async function refusal(
  { target, clock = systemClock }: Checking,
  action: Action,
  state?: Table,
): Promise<TargetRefusal | undefined> {
  const seen = target.capabilities.describes ? await target.describeTable(action.table) : undefined;
  let mayBeDone = false;
  const send = () => target.execute(action, seen ?? (state && { table: state, version: undefined }));
  const verdict = (error: unknown) => {
    const outcome = target.verdict(error);
    mayBeDone ||= outcome.kind === "unanswered";
    return outcome;
  };
  try {
    await retry(send, verdict, clock, patience.request);
    return undefined;
  } catch (error) {
    const words = target.explain(error);
    // The list has shown that the key is right, so this may be the answer to the request.
    if (isMigrateError(error, "ERR_CREDENTIALS") && error.details.status === 403)
      return { words, clear: false, mayBeDone };
    if (isMigrateError(error) && (error.outcome === "usage" || stopping.has(error.code))) throw error;
    return { words, clear: target.verdict(error).kind === "refused", mayBeDone };
  }
}

const stopping: ReadonlySet<string> = new Set(["ERR_TARGET_UNREACHABLE", "ERR_CREDENTIALS"]);

/** What has to hold, whatever happened. Each check gives what is wrong, in words, or undefined. */
import type { Progress } from "../../src/ledger/state/fold-migration.ts";
import { isMigrateError, type ErrorCode } from "../../src/errors/migrate-error.ts";
import { ledgerRows, ledgerState } from "./ledger-view.ts";
import type { Weather } from "./network.ts";
import { isAsking, longWait, wordsOf, type Loss, type Scene, type SimulatedRun } from "./schedule-state.ts";
import { releasedByRun, unknownRows } from "./target/memory-versions.ts";
import { textOf, type TablesText } from "./tables-text.ts";

/** How a run may end that met with trouble. */
const expected: readonly ErrorCode[] = [
  "ERR_LEASE_HELD",
  "ERR_LEASE_LOST",
  "ERR_LEASE_SHORT",
  "ERR_ACTED_LATE",
  "ERR_TARGET_UNREACHABLE",
  "ERR_ANSWER",
  "ERR_LEDGER_UNREADABLE",
  "ERR_LEDGER_UNWRITABLE",
  "ERR_STEP_FAILED",
  "ERR_GROUP_FAILED",
  "ERR_INTERRUPTED",
  "ERR_MIGRATION_MISSING",
  "ERR_BEGUN",
];
/** What says that another release has more files. */
const older: readonly ErrorCode[] = ["ERR_MIGRATION_MISSING", "ERR_BEGUN"];
/** What says that a table is not as it should be. */
export const alarms: readonly ErrorCode[] = ["ERR_DRIFT", "ERR_TABLE_CHANGED", "ERR_UNEXPECTED_RESULT"];

/** Nobody waits for ever, and who fails has a reason. */
export function checkEnding(scene: Scene, run: SimulatedRun): string | undefined {
  const { machine, trouble, weather, ended, files, patience } = run;
  if (run.outdated.length > 0 && hasUsedPlan(scene, run))
    return `${machine.name} begins to carry out its plan, though a table had been recreated since`;
  if (ended === undefined) return machine.isAlive() ? `${machine.name} waits for ever` : undefined;
  if (!("error" in ended)) {
    const [stray] = run.strayed;
    // The other models do not tell a table from another of its name.
    if (stray !== undefined && scene.model === "embedded")
      return `${machine.name} has carried out its plan on another ${stray}`;
    return silentLoss(scene, run);
  }
  const { error } = ended;
  const isOneOf = (codes: readonly ErrorCode[]) => codes.some((code) => isMigrateError(error, code));
  const said = `${machine.name} ends with ${wordsOf(error)}`;
  // Who accepts a loss releases what only tells which rows others wrote. Another one that would put these back can't.
  if (says(ended, releasedByRun) && (isAsking(scene) || !says(ended, unknownRows))) return said;
  if (isOneOf(alarms)) {
    // A torn list may show a table and not the record of who makes it; and others may change what is being put back.
    const { does } = scene.application;
    const others = scene.strays.size > 0 || hasRecreated(scene) || does.has("tornLists") || does.has("metadata");
    return wasLate(scene) || mayHaveBeenLate(scene) || others ? undefined : `${said}, and nobody had acted late`;
  }
  // Another run may recreate a table as well, while this one sleeps.
  if (isOneOf(["ERR_TABLE_RECREATED"]) && (hasRecreated(scene) || run.isSuperseded)) return undefined;
  if (isLookAlike(scene, run)) return undefined;
  if (isUnknownLoss(scene, run) || isRefusal(scene, run)) return undefined;
  if (!isOneOf(expected)) return said;
  const isCalm = Object.values(scene.weather).every((probability) => probability === 0);
  if (isOneOf(older) && files === scene.migrations.length) return said;
  if (isOneOf(["ERR_LEASE_HELD"]) && patience >= longWait * scene.lease && isCalm) return said;
  const isHarmless = isOneOf(["ERR_LEASE_HELD", ...older]);
  // A call may be refused by the data, or because its table is dropped while it runs.
  const data = isOneOf(["ERR_STEP_FAILED", "ERR_GROUP_FAILED"]) && (scene.refused.size > 0 || hasRecreated(scene));
  if (!hasTrouble(weather) && trouble.mishaps.length === 0 && !isHarmless && !data)
    return `${said}, without any trouble of its own`;
  return undefined;
}

/** Whether the ledger states that the run has used up its saved plan: then the plan can't be carried out any more. */
function hasUsedPlan({ tables }: Scene, { machine }: SimulatedRun): boolean {
  return ledgerRows(tables).some(({ run, checksum }) => run === machine.name && checksum !== null);
}

function silentLoss({ losses, application }: Scene, run: SimulatedRun): string | undefined {
  const { machine } = run;
  const mayBeUnknown = application.does.has("compaction");
  const lost = losses.find(
    (one) =>
      one.sender === machine && one.isLost() && !statesLoss(one, run) && !(mayBeUnknown && saysUnknown(one, run)),
  );
  return lost && `${machine.name} reports success, and by its call ${lost.what}`;
}

/** A run that may lose metadata of others states which, where the target refuses to set it again. */
function statesLoss({ table, column }: Loss, { order, accepted }: SimulatedRun): boolean {
  if (!order.acceptLoss || column === undefined) return false;
  const report = new RegExp(
    `^${table} was restored without what others had given it since: .*metadata .* of ${column}\\b`,
  );
  return accepted.some((words) => report.test(words));
}

/**
 * A run that may lose what others have given a table says so where the version that tells it was cleaned up right after the
 * restore. It names the version that it saw last: what that one had is put back.
 */
function saysUnknown({ table, since }: Loss, { order, accepted }: SimulatedRun): boolean {
  if (!order.acceptLoss || since === undefined) return false;
  const report = new RegExp(`^whether metadata and indexes that others had given ${table} after version (\\d+) and `);
  return accepted.some((words) => Number(report.exec(words)?.[1] ?? Infinity) < since);
}

/** An action may take long, which is no trouble: who is at work renews the lease. */
function hasTrouble(weather: Weather): boolean {
  return Object.values({ ...weather, long: 0 }).some((probability) => probability > 0);
}

/** What only runs meet with that were asked for something else than the others, or less than all. */
function isRefusal({ orders, application }: Scene, { order, ended, weather }: SimulatedRun): boolean {
  const isOneOf = (...codes: readonly ErrorCode[]) =>
    ended !== undefined && "error" in ended && codes.some((code) => isMigrateError(ended.error, code));
  if (orders.has("opposite") && isOneOf("ERR_UNSETTLED", "ERR_REVERTING", "ERR_BACK_ORDER")) return true;
  // Who takes an epoch may turn to a migration, or still roll it back: until its first record there nobody can tell.
  if (order.direction === "down" && isOneOf("ERR_UNSETTLED")) return true;
  // A run that was silent for its whole lease may go on while another one plans to take over, and rename what that asks about.
  if (order.direction === "down" && says(ended, "there is no table") && isOneOf("ERR_IRREVERSIBLE")) return true;
  if (order.savedFor !== undefined && isOneOf("ERR_PLAN_STALE")) return true;
  // Rows could not be counted.
  if (order.direction === "down" && hasTrouble(weather) && isOneOf("ERR_STEP_IMPOSSIBLE")) return true;
  // The version that a restore made may be cleaned up before the run looks for rows that were written before the restore.
  if (application.does.has("compaction") && isOneOf("ERR_STEP_FAILED") && says(ended, "made of it was cleaned up"))
    return true;
  if (order.acceptLoss) return false;
  // Rows that came in the moment of the restoration, and that nothing can put back, are named.
  if (application.does.has("writes") && isOneOf("ERR_STEP_FAILED")) return true;
  // The version that tells which rows came in that moment may be cleaned up.
  if (application.does.has("compaction") && isOneOf("ERR_STEP_FAILED") && says(ended, "old versions were cleaned up"))
    return true;
  return isOneOf("ERR_ROLLBACK_BLOCKED", "ERR_ROLLBACK_STOPPED", "ERR_WRITES_LOST", "ERR_WRITES_UNKNOWN");
}

/**
 * The version or the table that tells what metadata the call has replaced is gone or could not be read, or the metadata could
 * not be set again.
 */
export function isUnknownLoss(scene: Scene, { ended, weather }: SimulatedRun): boolean {
  const { does } = scene.application;
  const others = ["compaction", "metadata", "recreation"].some((one) => does.has(one));
  const may = wasLate(scene) || others || hasTrouble(weather);
  return may && ended !== undefined && "error" in ended && isMigrateError(ended.error, "ERR_METADATA_LOST");
}

/** Who acted after somebody else had taken over says so, where nothing else would have refused it. */
export function checkLateness({ late, tables, runs, careless }: Scene): string | undefined {
  if (careless.length > 0) return careless[0];
  const said = new Set(ledgerRows(tables).flatMap(({ event, run }) => (event === "late" ? [run] : [])));
  const silent = late.find(({ sender, arrivedInTime }) => {
    const run = runs.find(({ machine }) => machine === sender);
    const ended = run?.ended;
    const wasKilled = ended === undefined;
    const confessed = ended !== undefined && "error" in ended && isMigrateError(ended.error, "ERR_ACTED_LATE");
    return !arrivedInTime && !wasKilled && !confessed && !said.has(sender.name);
  });
  return silent && `${silent.sender.name} acted after somebody else had taken over, and did not say so`;
}

/** A run that neither accepts a loss nor puts rows back loses none that was there when it began, not even with an error. */
export function checkAsked({ losses, runs }: Scene): string | undefined {
  const unasked = losses.find(({ sender, row, isLost }) => {
    const { order, found } = runs.find(({ machine }) => machine === sender)!;
    const asks = order.direction === "down" && !order.acceptLoss && order.reinsert !== true;
    return asks && row !== undefined && found.includes(row) && isLost();
  });
  return unasked && `${unasked.sender.name} did not ask, and by its call ${unasked.what}`;
}

/**
 * Late calls of which nobody could say anything: who made them was killed. A service has no way to refuse them. And two by
 * which different runs rename columns of one table may together roll back a swap of names, which nobody can see where tables can't be described.
 */
export function unsaid({ late, runs, model }: Scene): boolean {
  const tooLate = late.filter(({ arrivedInTime }) => !arrivedInTime);
  const isKilled = tooLate.some(({ sender }) => runs.find(({ machine }) => machine === sender)?.ended === undefined);
  const another = ({ sender, renamed }: (typeof tooLate)[number]) =>
    renamed !== undefined && tooLate.some((other) => other.sender !== sender && other.renamed === renamed);
  return isKilled || (model === "service" && tooLate.some(another));
}

/** The ledger is behind by no more than what is in doubt, and an epoch is one run's. */
export async function checkAfterTrouble(scene: Scene): Promise<string | undefined> {
  const { tables, model, reference, strays } = scene;
  const owners = new Map<unknown, unknown>();
  for (const { epoch, run } of ledgerRows(tables)) {
    if (owners.has(epoch) && owners.get(epoch) !== run)
      return `${String(run)} and ${String(owners.get(epoch))} both wrote in epoch ${String(epoch)}`;
    owners.set(epoch, run);
  }
  // Where some apply what others roll back, any part of it may be there; and what is sent twice may come in another order.
  if (scene.orders.has("opposite") || scene.orders.grouped || scene.repeated) return undefined;
  if (wasLate(scene) || mayHaveBeenLate(scene)) {
    scene.watcher.count("maybeLate");
    return undefined;
  }
  const { migrations } = await ledgerState(tables, model);
  const isBack = scene.goal.backTo !== undefined;
  const isDone = ({ version, number }: (typeof reference.actions)[number]) => {
    const known = migrations.get(version);
    if (isBack) return known === undefined || isUndone(reference, { version, number }, known.reversal);
    return known !== undefined && (known.status === "applied" || known.step >= number);
  };
  const recorded = reference.actions.findIndex((action) => !isDone(action));
  const least = recorded === -1 ? reference.actions.length : recorded;
  const begun = reference.actions[least];
  const effects = textOf(tables).without(strays).effects();
  const isAs = (text: TablesText) => text.without(strays).effects() === effects;
  for (let count = least; count <= reference.actions.length; count++) {
    if (isAs(reference.after(count))) return undefined;
    const next = reference.actions[count];
    // Beyond what is recorded: one action where each has its record, otherwise those of one migration.
    const isLast = model === "service" ? count > least : next?.version !== begun?.version;
    if (isLast) break;
    if (next?.between.some(isAs) === true) return undefined;
  }
  return `the tables are not what the ledger records, which is ${least} actions, nor what is in doubt beyond it`;
}

/** Counts the actions that are left: a rollback may have more of them than the reference's, which has no rows to put back. */
function isUndone(
  { actions }: Scene["reference"],
  { version, number }: { readonly version: number; readonly number: number },
  reversal: Progress | undefined,
): boolean {
  if (reversal === undefined) return false;
  const expected = actions.filter((action) => action.version === version).length;
  return expected - number >= reversal.total - reversal.step;
}

/** Whether something is destroyed, by a run that was killed or has reported an error: then the tables can't be as they should. */
export function isDamaged({ losses }: Scene): boolean {
  return losses.some(({ column, isLost }) => column === undefined && isLost());
}

/** Whether what was done too late, or may have been, has done harm that runs say, or of which nobody could know. Nothing more can be asked for. */
export function isHarmed(scene: Scene, { ended }: SimulatedRun): boolean {
  if (ended === undefined || !("error" in ended)) return false;
  if (isLookAlike(scene, { ended })) return true;
  if (!wasLate(scene) && !mayHaveBeenLate(scene) && scene.strays.size === 0) return false;
  return unsaid(scene) || alarms.some((code) => isMigrateError(ended.error, code));
}

function hasRecreated({ application }: Scene): boolean {
  return application.recreated.size > 0;
}

/**
 * A table that an application recreates in the middle of a step may look as the step leaves it, without its rows or values. The
 * run says that of the very table.
 */
function isLookAlike({ application }: Scene, { ended }: Pick<SimulatedRun, "ended">): boolean {
  if (ended === undefined || !("error" in ended) || !isMigrateError(ended.error, "ERR_STEP_IMPOSSIBLE")) return false;
  return [...application.recreated].some((table) => says(ended, ` ${table} exists without `));
}

function says(ended: SimulatedRun["ended"], words: string): boolean {
  return ended !== undefined && "error" in ended && String(ended.error).includes(words);
}

function wasLate({ late }: Scene): boolean {
  return late.some(({ arrivedInTime }) => !arrivedInTime);
}

/** Whether a run says that it may have acted late: then types and nullability are put back blindly, be they right or wrong. */
function mayHaveBeenLate({ tables }: Scene): boolean {
  return ledgerRows(tables).some(({ event }) => event === "late");
}

/** Whether every step took effect as often as the ledger records. */
export function isComparable(scene: Scene): boolean {
  const isOneWay = !scene.orders.has("opposite") && !scene.turned;
  return !wasLate(scene) && !mayHaveBeenLate(scene) && isOneWay && !scene.repeated;
}

/** A run that meets with no trouble ends with everything applied once, or with what the data stands in the way of. */
export function checkAtEnd(scene: Scene, run: SimulatedRun, standsInTheWay: boolean): string | undefined {
  const { tables, reference, refused, goal, strays } = scene;
  const { ended, machine } = run;
  if (ended === undefined) return `${machine.name} waits for ever`;
  if ("error" in ended) {
    const isFailed = isMigrateError(ended.error, "ERR_STEP_FAILED") || isMigrateError(ended.error, "ERR_GROUP_FAILED");
    if (standsInTheWay && isFailed) return undefined;
    return `${machine.name} ends with ${wordsOf(ended.error)}`;
  }
  if (standsInTheWay && !scene.orders.grouped && refused.size > 0 && !wasLate(scene))
    return `${machine.name} ends well, though the data stands in its way`;
  if (ended.result.total !== goal.total)
    return `${machine.name} says that ${ended.result.total} of ${goal.total} are applied`;
  const lost = silentLoss(scene, run);
  if (lost !== undefined) return lost;
  if (unsaid(scene)) return undefined;
  const found = textOf(tables).without(strays);
  const wanted = reference.after(reference.actions.length).without(strays);
  if (found.schema() !== wanted.schema()) return `the tables are not as they should be: ${found.schema()}`;
  if (isComparable(scene) && !scene.orders.grouped && found.effects() !== wanted.effects())
    return `a step took effect more than once: ${found.effects()}`;
  return undefined;
}

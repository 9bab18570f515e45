/** Finds the actions of a plan that break a release of an application which still runs. Pure. */
import { MigrateError } from "../../../errors/migrate-error.ts";
import type { Action } from "../../../actions/model/action.ts";
import { refAfter, rewrites } from "../../../actions/apply-action.ts";
import { follow, followValues } from "../../../actions/follow.ts";
import type { Risk } from "../../../actions/model/risk.ts";
import { formatPath, isWithin, parsePath, type Path } from "../../../schema/path.ts";
import { namesIn } from "../../../schema/sql.ts";
import { columnsWithin, findColumn, type Table, type Tables } from "../../../schema/table.ts";
import type { Direction } from "../../../plan/compile/compile.ts";
import type { Plan, PlannedAction } from "../../../plan/make-plan.ts";
import type { BrokenContract } from "../../../plan/refusal.ts";
import {
  columnNotWritten,
  pathsWithin,
  columnLabel,
  problemOfColumn,
  unusable,
  type Contract,
  type ContractTable,
  type NeededColumn,
  type Use,
} from "./contract.ts";
import { sequenceBack, sequenceFor } from "./sequence.ts";

/**
 * Adds the refusal to each action of this direction that breaks a contract, and a risk to those that break one only in
 * part. Throws ERR_CONTRACT_INVALID for a contract that describes neither the tables now nor those after the plan; a
 * rollback does not, because the release may need tables of migrations that it knows nothing of.
 */
export function withContracts(plan: Plan, contracts: readonly Contract[], direction: Direction): Plan {
  if (contracts.length === 0 || plan.migrations.length === 0) return plan;
  if (direction === "up") checkDescribed(plan, contracts);
  const migrations = plan.migrations.map((planned) => {
    // What finishes a rollback that has begun was checked when it began.
    if (planned.startedAt !== undefined) return planned;
    const actions = planned.actions.map((one, index) => {
      // An action that stopped between two of its commits has broken what it breaks.
      const isBegun = index === 0 && planned.midway !== undefined;
      return isBegun || one.refusal?.reason === "failure" ? one : withBreaks(one, contracts, direction);
    });
    return { ...planned, actions };
  });
  return { ...plan, migrations };
}

function withBreaks(planned: PlannedAction, contracts: readonly Contract[], direction: Direction): PlannedAction {
  const broken = breaksOf(planned, contracts);
  if (broken.length === 0) return { ...planned, risks: [...planned.risks, ...risksOf(planned, contracts)] };
  const isBreaking = (action: Action, before: Tables, after: Tables) =>
    breaksOf({ action, before, after }, contracts).length > 0;
  const releases = namesOf(broken);
  const sequence = direction === "up" ? sequenceFor(planned, releases, isBreaking) : sequenceBack(releases);
  return { ...planned, refusal: { reason: "contract", broken, sequence } };
}

/** "search 1.4.0 and api 2". */
function namesOf(broken: readonly BrokenContract[]): readonly string[] {
  return [...new Set(broken.map(({ application, release }) => `${application} ${release}`))];
}

type AppliedAction = Pick<PlannedAction, "action" | "before" | "after" | "undoes">;

/** The contracts that hold before an action and not after it. */
export function breaksOf(step: AppliedAction, contracts: readonly Contract[]): readonly BrokenContract[] {
  const broken = contracts.flatMap(({ application, release, tables }) =>
    [...tables].flatMap(([name, needed]) =>
      // Only the tables that the action touches are there.
      step.before.get(name) === undefined
        ? []
        : problemsOf(step, name, needed).map((problem) => ({ application, release, problem })),
    ),
  );
  return withoutRepeats(broken);
}

/** A release may have several contracts, such as one in the folder and a copy that is given by a flag. */
function withoutRepeats<Value>(values: readonly Value[]): readonly Value[] {
  const texts = values.map((value) => JSON.stringify(value));
  return values.filter((_, index) => texts.indexOf(texts[index]!) === index);
}

function problemsOf(step: AppliedAction, name: string, needed: ContractTable): readonly string[] {
  const { action } = step;
  const table = refAfter({ table: name, path: [] }, action)?.table;
  if (table !== name) return [`uses ${name}, which ${table === undefined ? "is dropped" : `is renamed to ${table}`}`];
  const reads = needed.reads.flatMap((column) => problemOfUse(step, name, column, "reads"));
  const writes = needed.writes.flatMap((column) => problemOfUse(step, name, column, "writes"));
  const both = reads.filter((one) => writes.includes(one));
  const only = (problems: readonly string[]) => problems.filter((one) => !both.includes(one));
  return [
    ...both.map((problem) => `reads and writes ${problem}`),
    ...only(reads).map((problem) => `reads ${problem}`),
    ...only(writes).map((problem) => `writes ${problem}`),
    ...(needed.appends ? problemOfAppends(step, name, needed) : []),
  ];
}

/** Why an application can't use a column after an action as it could before, beginning with the column. */
function problemOfUse(step: AppliedAction, table: string, column: NeededColumn, use: Use): string[] {
  const { action, before, after } = step;
  const { path } = column;
  if (problemOfColumn(before.get(table), column, use) !== undefined) return [];
  const place = columnLabel(table, path);
  for (const inner of pathsWithin(findColumn(before.get(table)!.columns, path)!, column)) {
    const problem = problemOfPath(step, table, inner);
    if (problem !== undefined) return [`${columnLabel(table, inner)}, which ${problem}`];
  }
  const problem = problemOfColumn(after.get(table), column, use);
  if (problem !== undefined) return [`${place}, which then ${problem}`];
  if (getsOldValues(step, table, path)) return [`${place}, which gets its values from before the migration back`];
  // Also one with the same type: until it is open again, a table takes values for the old column, and loses them. And
  // the rewrite may hide the column from readers for a moment.
  return rewritten(action, table).has(path[0]!) ? [`${place}, which is rewritten`] : [];
}

/** Why an action takes a column away. Another column may have got its name. */
function problemOfPath({ action, after, undoes }: AppliedAction, table: string, path: Path): string | undefined {
  if (undoes !== undefined) {
    if (findColumn(after.get(table)!.columns, path) === undefined) return "then does not exist";
    const now = follow({ table, path }, undoes)?.path;
    if (now === undefined) return "gets the values of a column that the migration dropped";
    return formatPath(now) === formatPath(path) ? undefined : `gets the values that are in ${formatPath(now)} now`;
  }
  const now = refAfter({ table, path }, action)?.path;
  if (now === undefined) return "is dropped";
  return formatPath(now) === formatPath(path) ? undefined : movedTo(action, now);
}

/** Whether an action restores a version of the table in which the column had not been cast or rebuilt. */
function getsOldValues({ undoes }: AppliedAction, table: string, path: Path): boolean {
  if (undoes === undefined) return false;
  const values = followValues({ table, path }, undoes);
  return values === undefined || values.casts.length > 0;
}

function movedTo(action: Action, path: readonly string[]): string {
  const name = formatPath(path);
  return action.kind === "switchColumn"
    ? `gets the values of another model (the old ones are in ${name})`
    : `is renamed to ${name}`;
}

/** The columns that are rewritten while appends of others are refused. */
function rewritten(action: Action, table: string): ReadonlySet<string> {
  return action.table === table ? rewrites(action) : new Set();
}

function problemOfAppends(
  { action, before, after }: AppliedAction,
  name: string,
  needed: ContractTable,
): readonly string[] {
  const [table, then] = [before.get(name)!, after.get(name)!];
  if (columnNotWritten(table, needed) !== undefined) return [];
  const missing = columnNotWritten(then, needed);
  if (missing !== undefined) return [`appends to ${name} without ${missing}, which is not null then`];
  const other = [...rewritten(action, name)].find((column) => !uses(needed, column));
  return other === undefined ? [] : [`appends to ${name}, which refuses that while ${other} is rewritten`];
}

function uses({ reads, writes }: ContractTable, column: string): boolean {
  return [...reads, ...writes].some(({ path }) => path[0] === column);
}

/** What applications notice of an action that breaks no contract. */
function risksOf({ action, before, after, undoes }: AppliedAction, contracts: readonly Contract[]): readonly Risk[] {
  const { table } = action;
  const [was, now] = [before.get(table), after.get(table)];
  if (was === undefined || now === undefined) return [];
  const risks = contracts.flatMap(({ application, release, tables }) => {
    const needed = tables.get(table);
    return needed === undefined
      ? []
      : [
          ...risksOfUses(`${application} ${release}`, table, needed, was, now, undoes !== undefined),
          ...(undoes === undefined ? missedRows(`${application} ${release}`, action, needed) : []),
        ];
  });
  return withoutRepeats(risks);
}

/** An update from a column that the release writes, of one that it does not write: it covers the rows of now only. */
function missedRows(name: string, action: Action, { writes }: ContractTable): readonly Risk[] {
  if (action.kind !== "updateRows") return [];
  const place = (column: string) => columnLabel(action.table, [column]);
  const written = new Set(writes.map(({ path }) => path[0]!));
  return Object.entries(action.set).flatMap(([path, sql]) => {
    const column = parsePath(path)[0]!;
    const words = new Set(namesIn(sql).map((word) => word.toLowerCase()));
    const source = [...written].find((one) => words.has(one.toLowerCase()));
    if (source === undefined || written.has(column)) return [];
    const text = `${name} writes ${place(source)} and not ${place(column)}: rows that it writes afterwards are missed`;
    return { kind: "writers" as const, text };
  });
}

function risksOfUses(
  name: string,
  table: string,
  needed: ContractTable,
  was: Table,
  now: Table,
  isRestored: boolean,
): readonly Risk[] {
  const risks: Risk[] = [];
  // The engine refuses each write that began before a restore, and an append that lacks the column.
  const isRefused = isRestored ? needed.appends || needed.writes.length > 0 : needed.appends && becomesStrict(was, now);
  if (isRefused)
    risks.push({
      kind: "writers",
      text: `${name} ${isRestored ? "writes" : "appends"} to ${table}: where it has the table open already, that is refused until it calls checkoutLatest or opens it again`,
    });
  for (const [index, one] of Object.entries(was.indexes ?? {}))
    if (one !== null && now.indexes?.[index] === null && isRead(needed, one.path))
      risks.push({
        kind: "readers",
        text: `${name} reads ${table}.${one.path}, which loses index ${index}: full-text searches fail without one, other searches become slower`,
      });
  const twin = secondVector(needed, was, now);
  if (twin !== undefined)
    risks.push({
      kind: "readers",
      text: `${name} reads ${table}.${twin}: now that it is not the only vector of its length, searches fail that do not name it`,
    });
  return risks;
}

/** The path of a vector that is read, and that is not the only one of its length any more. */
function secondVector({ reads }: ContractTable, was: Table, now: Table): string | undefined {
  const twins = ({ columns }: Table, length: number) =>
    columns.filter(({ type }) => type.kind === "fixedSizeList" && type.length === length).length;
  const found = reads.find(
    ({ type }) => type?.kind === "fixedSizeList" && twins(was, type.length) === 1 && twins(now, type.length) > 1,
  );
  return found && formatPath(found.path);
}

/** Whether a column is not null that was nullable or did not exist. */
function becomesStrict(was: Table, now: Table): boolean {
  const strict = ({ columns }: Table) =>
    columnsWithin(columns).flatMap(({ path, column }) => (column.nullable ? [] : formatPath(path)));
  const known = new Set(strict(was));
  return strict(now).some((name) => !known.has(name));
}

function isRead({ reads }: ContractTable, path: string): boolean {
  const indexed = parsePath(path);
  return reads.some((one) => isWithin(indexed, one.path) || isWithin(one.path, indexed));
}

/** Throws ERR_CONTRACT_INVALID: a wrong contract would protect nothing. */
function checkDescribed({ now, migrations }: Plan, contracts: readonly Contract[]): void {
  const states = migrations.flatMap(({ actions }) => actions.map(({ after }) => after));
  for (const { file, application, release, tables } of contracts)
    for (const [name, needed] of tables) {
      const known = [now.get(name), ...states.flatMap((after) => (after.has(name) ? [after.get(name)] : []))];
      // What is wrong now may be right after the plan: the release that needs that starts then.
      const [first, ...others] = known.map((table) => problemsIn(table, name, needed));
      const at = first!.findIndex((problem, index) => problem !== undefined && others.every((one) => one[index]));
      if (at === -1) continue;
      const wrong = (others.at(-1) ?? first!)[at]!;
      // The same use may fail for another reason then, such as a column that does not exist yet.
      const when = wrong === first![at] ? "now and after these migrations" : "after these migrations";
      throw new MigrateError("ERR_CONTRACT_INVALID", {
        file,
        problem: `is wrong: ${application} ${release} ${wrong}, ${when}; correct the contract, or remove it if that release no longer runs`,
      });
    }
}

/** Why an application can't work with the table, for each thing that it does with it; undefined where it can. */
export function problemsIn(
  table: Table | undefined,
  name: string,
  needed: ContractTable,
): readonly (string | undefined)[] {
  const ofUse = (use: Use) =>
    needed[use].map((column) => {
      const problem = unusable(name, table, column, use);
      return problem && `${use} ${problem}`;
    });
  const missing = needed.appends ? columnNotWritten(table ?? { columns: [] }, needed) : undefined;
  return [
    table === undefined ? `uses ${name}, which does not exist` : undefined,
    ...ofUse("reads"),
    ...ofUse("writes"),
    missing && `appends to ${name} without ${missing}, which is not null`,
  ];
}

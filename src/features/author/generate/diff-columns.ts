/** Compares the columns of one table: the steps, the open questions, and what no step can do. Pure. */
import { castVerdict } from "../../../schema/cast-rules.ts";
import { childColumns, formatType, sameType, withChildColumns, type Column } from "../../../schema/data-type.ts";
import { extensionIn } from "../../../schema/reserved-metadata.ts";
import { placeNotation, shellWord, typeNotation } from "../../shared/format-notation.ts";
import { formatPath, type Path } from "../../../schema/path.ts";
import { addingStep } from "./from-action.ts";
import type { Step } from "../../../steps/registry.ts";

/** A question: a table or column is gone, and a new one may be it under a new name. */
export interface Unsure {
  readonly table: string;
  /** The column's path; undefined for the table itself. */
  readonly path?: string | undefined;
  /** The new names that it may have. */
  readonly names: readonly string[];
  /** New tables that are like it, on a target that can't rename tables. */
  readonly like?: readonly string[];
}

/** An answer: `name` is the new name; without one, the table or column was dropped. */
export interface DiffAnswer {
  readonly table: string;
  readonly path?: string | undefined;
  readonly name?: string | undefined;
  /** Set instead for a column that is new or gets another type: the step that gives it its values. */
  readonly step?: ValueStep | undefined;
}

export type ValueStep = Extract<Step, { readonly kind: "addColumn" | "retypeColumn" }>;

/** The user's answers, and which of them fit what differs. */
export interface Answers {
  /** The answer about a table of that old name, or about a column of it. */
  about(table: string, path?: string): DiffAnswer | undefined;
  /** The answered step for this one, which differs only in where its values come from. It counts as used. */
  stepFor<One extends ValueStep>(step: One): One | undefined;
  use(answer: DiffAnswer): void;
}

/** The changes of one table, by the kind of step that makes them. */
export interface Changes {
  readonly renames: { readonly path: Path; readonly name: string }[];
  /** These steps use the new names. */
  readonly retypes: Step[];
  readonly nulls: Step[];
  readonly adds: Step[];
  /** By the old names and by the new ones. */
  readonly drops: { readonly before: Path; readonly after: Path }[];
  /** Old names of computed columns that are recreated. What they read can change only once they are gone. */
  readonly dropsFirst: Path[];
  /** Steps that declare and fill computed columns; they come after everything that these may read. */
  readonly computed: Step[];
  readonly unsure: Unsure[];
  readonly impossible: string[];
}

export interface Level {
  readonly table: string;
  /** The old name of the table. */
  readonly oldTable: string;
  /** The path of this level, by the old names and by the new ones. */
  readonly before: Path;
  readonly after: Path;
  readonly answers: Answers;
  readonly changes: Changes;
  /** The wanted top-level column, if this level is inside one. */
  readonly top?: Column | undefined;
  /** Whether a column is dropped only if an answer asks for it. A computed one loses no values. */
  readonly asksDrops: boolean;
  /** Whether a step can add a field here: the target can add fields, and no list is around this level. */
  readonly addsFields: boolean;
}

export function compareLevel(were: readonly Column[], wanted: readonly Column[], level: Level): void {
  const { table, oldTable, before, after, answers, changes, asksDrops } = level;
  const answerFor = ({ name }: Column) => answers.about(oldTable, formatPath([...before, name]));
  // A column that an answer adds can't be a renamed one.
  const isAdded = (column: Column) =>
    !isIn(were, column.name) && answers.stepFor(addition(table, [...after, column.name], column)) !== undefined;
  const mayBeRenamed = wanted.filter((column) => !isAdded(column));
  const isDropped = (column: Column) => answerFor(column) !== undefined && answerFor(column)?.name === undefined;
  const renames = renamesIn(were, mayBeRenamed, (column) => answerFor(column)?.name, isDropped);
  for (const column of renames.keys()) answers.use(answerFor(column)!);
  const renamed = new Map([...renames].map(([column, name]) => [name, column]));
  // Another column may take the name of one that is dropped.
  const gone = were.filter(
    (column) => !renames.has(column) && (!isIn(wanted, column.name) || renamed.has(column.name)),
  );
  const others = mayBeRenamed.filter(({ name }) => !renamed.has(name) && !isIn(were, name));
  /** The names in open questions. Until these are answered, no step is made for them. */
  const open = new Set<string>();
  for (const column of gone) {
    const answer = answerFor(column);
    if (answer !== undefined && answer.name === undefined) {
      answers.use(answer);
      continue;
    }
    const like = likely(column, others).map(({ name }) => name);
    if (like.length === 0 && (!asksDrops || isComputed(column))) continue;
    changes.unsure.push({ table: oldTable, path: formatPath([...before, column.name]), names: like });
    for (const name of [column.name, ...like]) open.add(name);
  }
  // Computed columns are dropped before the columns that they read.
  const readers = gone.filter(isComputed).toReversed();
  for (const { name } of [...readers, ...gone.filter((one) => !isComputed(one))])
    if (!open.has(name)) changes.drops.push({ before: [...before, name], after: [...after, name] });
  /** The old columns that are gone or have another type: one of them may have taken the name of another. */
  const former = were.filter(({ name, type }) => !wanted.some((one) => one.name === name && sameType(one.type, type)));
  for (const column of wanted) {
    const was = renamed.get(column.name) ?? were.find(({ name }) => name === column.name);
    const here: Level = { ...level, before: [...before, was?.name ?? column.name], after: [...after, column.name] };
    if (was === undefined && open.has(column.name)) continue;
    if (was === undefined) addTo(column, here);
    else if (isDeclaredAgain(was, column)) {
      changes.dropsFirst.push(here.before);
      addTo(column, here);
    } else {
      if (was.name !== column.name) changes.renames.push({ path: here.before, name: column.name });
      compareColumn(was, column, here, former);
    }
  }
}

function isIn(columns: readonly Column[], name: string): boolean {
  return columns.some((one) => one.name === name);
}

/**
 * The columns that can take the names that the answers give them. A column's old name may go to another renamed column:
 * in a swap, a longer cycle, or a chain. So may the name of a column that is dropped.
 */
function renamesIn(
  were: readonly Column[],
  wanted: readonly Column[],
  nameFor: (column: Column) => string | undefined,
  isDropped: (column: Column) => boolean,
): ReadonlyMap<Column, string> {
  const renames = new Map<Column, string>();
  // If two columns are given the same name, the one whose old name is gone gets it.
  const goneFirst = were.toSorted((one, other) => Number(isIn(wanted, one.name)) - Number(isIn(wanted, other.name)));
  for (const column of goneFirst) {
    const name = nameFor(column);
    const isFree = name !== undefined && ![...renames.values()].includes(name);
    if (isFree && name !== column.name && isIn(wanted, name)) renames.set(column, name);
  }
  // Without one rename, those that need its old name are impossible too.
  for (let before = -1; before !== renames.size;) {
    before = renames.size;
    for (const [column, name] of renames) {
      const isLeft = !isIn(wanted, column.name) || [...renames.values()].includes(column.name);
      const isVacant = were.every((one) => one.name !== name || renames.has(one) || isDropped(one));
      if (!isLeft || !isVacant) renames.delete(column);
    }
  }
  return renames;
}

function addition(table: string, path: Path, { type, nullable }: Column): Extract<Step, { kind: "addColumn" }> {
  return { kind: "addColumn", table, name: path.length === 1 ? path[0]! : formatPath(path), type, nullable };
}

function isComputed({ computed }: Column): boolean {
  return computed !== undefined;
}

/** Whether a column must be recreated: no call changes whether it is computed, or a computed one's SQL or type. */
function isDeclaredAgain(was: Column, wanted: Column): boolean {
  return was.computed !== wanted.computed || (wanted.computed !== undefined && !sameType(was.type, wanted.type));
}

function addTo(column: Column, { table, after, answers, changes, top, addsFields }: Level): void {
  if (column.computed !== undefined) {
    changes.computed.push(addingStep(table, column), { kind: "refreshColumn", table, path: formatPath(after) });
    return;
  }
  const { type, nullable } = column;
  const place = `${table}.${formatPath(after)}`;
  const step = addition(table, after, column);
  const filled = answers.stepFor(step);
  const isField = after.length > 1;
  if (isField && (!addsFields || !nullable || filled?.as !== undefined))
    changes.impossible.push(
      `${place} is new, and can't be added to the struct that it is in: say how the whole is made with ${retypeFlag(table, after, top!)}, where ${after[0]!} itself as SQL keeps the other fields`,
    );
  else if (nullable || filled?.as !== undefined) changes.adds.push(filled ?? step);
  else {
    const flag = shellWord(`${placeNotation(table, after)}:${typeNotation(type)} not null as SQL`);
    const way = filled === undefined ? "run the same command with" : "--add-column lacks them:";
    changes.impossible.push(
      `${place} is new and not null, and its values in existing rows are unknown: ${way} --add-column ${flag}, with an expression such as 0 or upper(title) in place of SQL`,
    );
  }
}

function compareColumn(was: Column, wanted: Column, level: Level, former: readonly Column[]): void {
  const { table, after, answers, changes } = level;
  const path = formatPath(after);
  const step: Extract<Step, { kind: "retypeColumn" }> = { kind: "retypeColumn", table, path, type: wanted.type };
  const answered = answers.stepFor(step);
  if (answered?.using !== undefined) changes.retypes.push(answered);
  else if (!sameType(was.type, wanted.type)) {
    const verdict = castVerdict(was.type, wanted.type);
    if (verdict.allowed) changes.retypes.push(step);
    else if (haveLikeChildren(was, wanted))
      compareLevel(childColumns(was.type), childColumns(wanted.type), {
        ...level,
        top: level.top ?? wanted,
        addsFields: level.addsFields && was.type.kind === "struct",
      });
    else {
      const flag = retypeFlag(table, after, level.top ?? wanted);
      changes.impossible.push(
        `${table}.${path} can't be made ${formatType(wanted.type)} from ${formatType(was.type)}: ${verdict.hint}${extensionIn(wanted.type) === undefined ? `; or say how with ${flag}` : ""}${otherName(was, wanted, level, former)}`,
      );
    }
  }
  if (was.nullable !== wanted.nullable)
    changes.nulls.push({ kind: "setNullable", table, path, nullable: wanted.nullable });
}

/** The flag that recreates a column from SQL. Only whole top-level columns can be recreated. */
function retypeFlag(table: string, path: Path, { type }: Column): string {
  return `--retype ${shellWord(`${placeNotation(table, path.slice(0, 1))}:${typeNotation(type)} using SQL`)}`;
}

/** The flag to use if columns traded names and this one had another name before; empty if none can have become it. */
function otherName(was: Column, wanted: Column, { oldTable, before }: Level, former: readonly Column[]): string {
  const other = former.find(({ name, type }) => name !== was.name && sameType(type, wanted.type));
  if (other === undefined) return "";
  const place = placeNotation(oldTable, [...before.slice(0, -1), other.name]);
  return `; if it was ${other.name} before, with --rename ${shellWord(`${place}:${placeNotation(wanted.name)}`)}`;
}

/** Whether the types differ only in what is inside them. */
function haveLikeChildren({ type }: Column, { type: wanted }: Column): boolean {
  const children = childColumns(type);
  return (
    children.length > 0 &&
    type.kind === wanted.kind &&
    (type.kind === "struct" || sameType(withChildColumns(wanted, children), type))
  );
}

/** The new columns that this one may be under another name. Those of the same type come first. */
function likely(gone: Column, others: readonly Column[]): readonly Column[] {
  const candidates = others.filter((one) => isComputed(gone) === isComputed(one));
  const isSame = (one: Column) => sameType(gone.type, one.type);
  const isCast = (one: Column) => !isSame(one) && castVerdict(gone.type, one.type).allowed;
  return [...candidates.filter(isSame), ...candidates.filter(isCast)];
}

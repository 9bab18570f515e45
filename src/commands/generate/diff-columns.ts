/** Compares the columns of one table: the steps, the open questions, and what no step can do. Pure. */
import { castVerdict } from "../../schema/cast-rules.ts";
import { childColumns, formatType, sameType, withChildColumns, type Column } from "../../schema/data-type.ts";
import { placeNotation, shellWord, typeNotation } from "../../schema/text/format-notation.ts";
import { formatPath, type Path } from "../../schema/path.ts";
import { addingStep } from "../../steps/from-action.ts";
import type { Step } from "../../steps/registry.ts";

/** A question: a table or column is gone, and a new one may be it under a new name. */
export interface Unsure {
  readonly table: string;
  /** The column's path; undefined for the table itself. */
  readonly path?: string | undefined;
  /** The new names that it may have. */
  readonly names: readonly string[];
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

/** The answer for a column that may have one of these new names. */
export type AnsweredIn = (names: readonly string[], path: string) => DiffAnswer | undefined;

/** The answered step for this one. It differs only in where its values come from. */
export type SaidStep = <One extends ValueStep>(step: One) => One | undefined;

/** The changes of one table, by the kind of step that makes them. */
export interface Changes {
  readonly renames: { readonly path: Path; readonly name: string }[];
  /** These steps use the new names. */
  readonly retypes: Step[];
  readonly nulls: Step[];
  readonly adds: Step[];
  readonly drops: Path[];
  readonly dropsAfter: Path[];
  /** Old names of computed columns that are recreated. What they read can change only once they are gone. */
  readonly dropsFirst: Path[];
  /** Steps that declare and fill computed columns; they come after everything that these may read. */
  readonly computed: Step[];
  readonly unsure: Unsure[];
  readonly impossible: string[];
}

export interface Level {
  readonly table: string;
  /** The path of this level, by the old names and by the new ones. */
  readonly before: Path;
  readonly after: Path;
  readonly answered: AnsweredIn;
  /** The new name that the answers give to a column, whether or not it can have it. */
  readonly nameSaid: (path: string) => string | undefined;
  readonly said: SaidStep;
  readonly changes: Changes;
  /** The wanted top-level column, if this level is inside one. */
  readonly top?: Column | undefined;
  /** Whether a step can add a field here: the target can add fields, and no list is around this level. */
  readonly addsFields: boolean;
}

export function compareLevel(were: readonly Column[], wanted: readonly Column[], level: Level): void {
  const { table, before, after, answered, nameSaid, said, changes } = level;
  const pathOf = ({ name }: Column) => formatPath([...before, name]);
  // A column that an answer adds can't be a renamed one.
  const isAdded = (column: Column) =>
    !were.some(({ name }) => name === column.name) &&
    said(addition(table, [...after, column.name], column)) !== undefined;
  const renamed = new Map<string, Column>();
  for (const [column, name] of renamesIn(
    were,
    wanted.filter((one) => !isAdded(one)),
    (one) => nameSaid(pathOf(one)),
  )) {
    answered([name], pathOf(column));
    renamed.set(name, column);
  }
  const kept = new Set(renamed.values());
  const gone = were.filter((column) => !kept.has(column) && !wanted.some(({ name }) => name === column.name));
  const added = wanted.filter(({ name }) => !renamed.has(name) && !were.some((one) => one.name === name));
  /** The names in open questions. Until these are answered, no step is made for them. */
  const open = new Set<string>();
  const others = added.filter((column) => !isAdded(column));
  for (const column of gone.filter((one) => answered([], pathOf(one)) === undefined)) {
    const like = others.filter((one) => couldBe(column, one)).map(({ name }) => name);
    if (like.length === 0) continue;
    changes.unsure.push({ table, path: pathOf(column), names: like });
    for (const name of [column.name, ...like]) open.add(name);
  }
  // Computed columns are dropped before the columns that they read.
  const readers = gone.filter(isComputed).toReversed();
  for (const column of [...readers, ...gone.filter((one) => !isComputed(one))])
    if (!open.has(column.name)) {
      changes.drops.push([...before, column.name]);
      changes.dropsAfter.push([...after, column.name]);
    }
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
      compareColumn(was, column, here);
    }
  }
}

/**
 * The columns that can take the names that the answers give them. A column's old name may go to another renamed column:
 * in a swap, a longer cycle, or a chain.
 */
function renamesIn(
  were: readonly Column[],
  wanted: readonly Column[],
  nameFor: (column: Column) => string | undefined,
): ReadonlyMap<Column, string> {
  const isIn = (columns: readonly Column[], name: string) => columns.some((one) => one.name === name);
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
      const isVacant = !isIn(were, name) || isIn([...renames.keys()], name);
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

function addTo(column: Column, { table, after, said, changes, top, addsFields }: Level): void {
  if (column.computed !== undefined) {
    changes.computed.push(addingStep(table, column), { kind: "refreshColumn", table, path: formatPath(after) });
    return;
  }
  const { type, nullable } = column;
  const place = `${table}.${formatPath(after)}`;
  const step = addition(table, after, column);
  const filled = said(step);
  const isField = after.length > 1;
  if (isField && (!addsFields || !nullable || filled?.as !== undefined))
    changes.impossible.push(
      `${place} is new, and can't be added to the struct that it is in: say how the whole is made with ${retypeFlag(table, after, top!)}, where ${after[0]!} itself as SQL keeps the other fields`,
    );
  else if (nullable || filled?.as !== undefined) changes.adds.push(filled ?? step);
  else {
    const flag = shellWord(`${placeNotation(table, after)}:${typeNotation(type)} not null as SQL`);
    const way = filled === undefined ? "say them with" : "--add-column lacks them:";
    changes.impossible.push(
      `${place} is new and not null, and its values in existing rows are unknown: ${way} --add-column ${flag}`,
    );
  }
}

function compareColumn(was: Column, wanted: Column, level: Level): void {
  const { table, after, said, changes } = level;
  const path = formatPath(after);
  const step: Extract<Step, { kind: "retypeColumn" }> = { kind: "retypeColumn", table, path, type: wanted.type };
  const worked = said(step);
  if (worked?.using !== undefined) changes.retypes.push(worked);
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
        `${table}.${path} can't be made ${formatType(wanted.type)} from ${formatType(was.type)}: ${verdict.hint}; or say how with ${flag}`,
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

/** Whether the types differ only in what is inside them. */
function haveLikeChildren({ type }: Column, { type: wanted }: Column): boolean {
  const children = childColumns(type);
  return (
    children.length > 0 &&
    type.kind === wanted.kind &&
    (type.kind === "struct" || sameType(withChildColumns(wanted, children), type))
  );
}

function couldBe(one: Column, other: Column): boolean {
  if (isComputed(one) !== isComputed(other)) return false;
  return sameType(one.type, other.type) || castVerdict(one.type, other.type).allowed;
}

/** What became of the columns of one table: which steps that is, what nobody can tell, and what no step does. Pure. */
import { castVerdict } from "../../schema/cast-rules.ts";
import { childColumns, formatType, sameType, withChildColumns, type Column } from "../../schema/data-type.ts";
import { placeNotation, shellWord, typeNotation } from "../../schema/text/format-notation.ts";
import { formatPath, type Path } from "../../schema/path.ts";
import { addingStep } from "../../steps/from-action.ts";
import type { Step } from "../../steps/registry.ts";

/** Something that is gone, and something new that may be it. */
export interface Unsure {
  readonly table: string;
  /** Of a column; none where it is the table itself. */
  readonly path?: string | undefined;
  /** What it may be called now. */
  readonly names: readonly string[];
}

/** What was answered: that it has a new name, or with none that it is gone. */
export interface DiffAnswer {
  readonly table: string;
  readonly path?: string | undefined;
  readonly name?: string | undefined;
  /** Of what is new or another type, instead: the step with which it gets its values. */
  readonly step?: ValueStep | undefined;
}

export type ValueStep = Extract<Step, { readonly kind: "addColumn" | "retypeColumn" }>;

/** The answer for a column that may have one of these new names. */
export type AnsweredIn = (names: readonly string[], path: string) => DiffAnswer | undefined;

/** The step that was answered for this one: the same, but for where its values come from. */
export type SaidStep = <One extends ValueStep>(step: One) => One | undefined;

/** What is to be done to one table, by what kind of step it is. */
export interface Changes {
  readonly renames: { readonly path: Path; readonly name: string }[];
  /** These are on the new names. */
  readonly retypes: Step[];
  readonly nulls: Step[];
  readonly adds: Step[];
  readonly drops: Path[];
  readonly dropsAfter: Path[];
  /** Computed columns that are declared again, by their old names: what they read may change once they are gone. */
  readonly dropsFirst: Path[];
  /** What declares computed columns and fills them, after all that they may read. */
  readonly computed: Step[];
  readonly unsure: Unsure[];
  readonly impossible: string[];
}

export interface Level {
  readonly table: string;
  /** Where it is, by the old names and by the new ones. */
  readonly before: Path;
  readonly after: Path;
  readonly answered: AnsweredIn;
  /** The new name that is said of a column, whether or not it can have that. */
  readonly nameSaid: (path: string) => string | undefined;
  readonly said: SaidStep;
  readonly changes: Changes;
  /** The whole column that is wanted where it is inside of one. */
  readonly top?: Column | undefined;
  /** Whether a step can add a field here: the target can, and there is no list around it. */
  readonly addsFields: boolean;
}

export function compareLevel(were: readonly Column[], wanted: readonly Column[], level: Level): void {
  const { table, before, after, answered, nameSaid, said, changes } = level;
  const pathOf = ({ name }: Column) => formatPath([...before, name]);
  // What is said to be added is nothing that was there before.
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
  /** Of which is asked: what becomes of them is not said before that is answered. */
  const open = new Set<string>();
  const others = added.filter((column) => !isAdded(column));
  for (const column of gone.filter((one) => answered([], pathOf(one)) === undefined)) {
    const like = others.filter((one) => couldBe(column, one)).map(({ name }) => name);
    if (like.length === 0) continue;
    changes.unsure.push({ table, path: pathOf(column), names: like });
    for (const name of [column.name, ...like]) open.add(name);
  }
  // What reads others goes before them.
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
 * The columns that get the names that are said of them. One that passes its name on may itself be wanted, under the name of
 * another that is said to be renamed: a swap, a longer cycle, or a chain.
 */
function renamesIn(
  were: readonly Column[],
  wanted: readonly Column[],
  nameFor: (column: Column) => string | undefined,
): ReadonlyMap<Column, string> {
  const isIn = (columns: readonly Column[], name: string) => columns.some((one) => one.name === name);
  const renames = new Map<Column, string>();
  // Where two are said to get one name, it goes to the one that is gone.
  const goneFirst = were.toSorted((one, other) => Number(isIn(wanted, one.name)) - Number(isIn(wanted, other.name)));
  for (const column of goneFirst) {
    const name = nameFor(column);
    const isFree = name !== undefined && ![...renames.values()].includes(name);
    if (isFree && name !== column.name && isIn(wanted, name)) renames.set(column, name);
  }
  // Without one of them, those that need its name can't be either.
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

/** No call makes a column a computed one, or gives one another expression or type. */
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
      `${place} is new and not null, and nobody can tell its values in the rows that are there: ${way} --add-column ${flag}`,
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

/** Just whole columns are made anew. */
function retypeFlag(table: string, path: Path, { type }: Column): string {
  return `--retype ${shellWord(`${placeNotation(table, path.slice(0, 1))}:${typeNotation(type)} using SQL`)}`;
}

/** The same but for what is inside. */
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

/** What became of the columns of one table: which steps that is, what nobody can tell, and what no step does. Pure. */
import { castVerdict } from "../schema/cast.ts";
import { childColumns, formatType, sameType, withChildColumns, type Column } from "../schema/data-type.ts";
import { placeNotation, shellWord, typeNotation } from "../schema/notation-text.ts";
import { formatPath, type Path } from "../schema/path.ts";
import type { Step } from "../steps/registry.ts";

/** Something that is gone, and something new that may be it. */
export interface Unsure {
  readonly table: string;
  /** Of a column; none where it is the table itself. */
  readonly path?: string | undefined;
  /** What it may be called now. */
  readonly names: readonly string[];
}

/** What was answered: that it has a new name, or with none that it is gone. */
export interface Answer {
  readonly table: string;
  readonly path?: string | undefined;
  readonly name?: string | undefined;
  /** Of what is new or another type, instead: the step with which it gets its values. */
  readonly step?: ValueStep | undefined;
}

export type ValueStep = Extract<Step, { readonly kind: "addColumn" | "retypeColumn" }>;

/** The answer for a column that may have one of these new names. */
export type AnsweredIn = (names: readonly string[], path: string) => Answer | undefined;

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
  readonly unsure: Unsure[];
  readonly impossible: string[];
}

export interface Level {
  readonly table: string;
  /** Where it is, by the old names and by the new ones. */
  readonly before: Path;
  readonly after: Path;
  readonly answered: AnsweredIn;
  readonly said: SaidStep;
  readonly changes: Changes;
  /** The whole column that is wanted where it is inside of one. */
  readonly top?: Column | undefined;
}

export function compareLevel(were: readonly Column[], wanted: readonly Column[], level: Level): void {
  const { table, before, after, answered, said, changes } = level;
  const gone = were.filter(({ name }) => !wanted.some((one) => one.name === name));
  const added = wanted.filter(({ name }) => !were.some((one) => one.name === name));
  const renamed = new Map<string, Column>();
  /** Of which is asked: what becomes of them is not said before that is answered. */
  const open = new Set<string>();
  // What is said to be added is nothing that was there before.
  const others = added.filter((column) => after.length > 0 || said(addition(table, column)) === undefined);
  const news = () => others.map(({ name }) => name).filter((name) => !renamed.has(name));
  const pathOf = ({ name }: Column) => formatPath([...before, name]);
  const unanswered = gone.filter((column) => {
    const answer = answered(news(), pathOf(column));
    if (answer?.name !== undefined) renamed.set(answer.name, column);
    return answer === undefined;
  });
  for (const column of unanswered) {
    const like = news().filter((name) => others.some((one) => one.name === name && couldBe(column, one)));
    if (like.length === 0) continue;
    changes.unsure.push({ table, path: pathOf(column), names: like });
    for (const name of [column.name, ...like]) open.add(name);
  }
  const kept = new Set(renamed.values());
  for (const column of gone)
    if (!kept.has(column) && !open.has(column.name)) {
      changes.drops.push([...before, column.name]);
      changes.dropsAfter.push([...after, column.name]);
    }
  for (const column of wanted) {
    const was = renamed.get(column.name) ?? were.find(({ name }) => name === column.name);
    const here: Level = { ...level, before: [...before, was?.name ?? column.name], after: [...after, column.name] };
    if (was === undefined && open.has(column.name)) continue;
    if (was === undefined) addTo(column, here);
    else {
      if (was.name !== column.name) changes.renames.push({ path: here.before, name: column.name });
      compareColumn(was, column, here);
    }
  }
}

function addition(table: string, { name, type, nullable }: Column): Extract<Step, { kind: "addColumn" }> {
  return { kind: "addColumn", table, name, type, nullable };
}

function addTo(column: Column, { table, after, said, changes, top }: Level): void {
  const { type, nullable } = column;
  const place = `${table}.${formatPath(after)}`;
  const step = addition(table, column);
  const filled = said(step);
  if (after.length > 1)
    changes.impossible.push(
      `${place} is new, and a field can't be added to a struct: say how the whole is made with ${retypeFlag(table, after, top!)}`,
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
      compareLevel(childColumns(was.type), childColumns(wanted.type), { ...level, top: level.top ?? wanted });
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
  return sameType(one.type, other.type) || castVerdict(one.type, other.type).allowed;
}

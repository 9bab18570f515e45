/** From the tables that there are to those that are wanted: the steps, what nobody can tell, and what no step does. Pure. */
import { isMigrateError } from "../errors.ts";
import { describeAction, tablesAfter } from "../schema/action.ts";
import { childColumns, ownValue, sameType, withChildColumns, type Column } from "../schema/data-type.ts";
import { formatPath, parsePath, type Path } from "../schema/path.ts";
import { sameIndex } from "../schema/table-index.ts";
import { namesIn } from "../schema/sql.ts";
import { change, differences, findColumn, type Database, type Table } from "../schema/table.ts";
import { indexName } from "../steps/create-index.ts";
import { compileStep, type Step } from "../steps/registry.ts";
import { followPath } from "./blind.ts";
import { withoutVectors } from "./vectors.ts";
import {
  compareLevel,
  type Answer,
  type Changes,
  type Level,
  type SaidStep,
  type Unsure,
  type ValueStep,
} from "./diff-columns.ts";

export interface Diff {
  readonly steps: readonly Step[];
  readonly unsure: readonly Unsure[];
  /** In words, why steps can't lead there. */
  readonly impossible: readonly string[];
  /** In words, indexes of vectors that can't be made before there are rows: the next migration is for them. */
  readonly later: readonly string[];
  /** Answers to what nobody asks: of something that is not gone, or with a name that is not new. */
  readonly unused: readonly Answer[];
}

export interface DiffOptions {
  readonly answers?: readonly Answer[];
  /** Whether the target gives tables other names. */
  readonly renamesTables?: boolean;
}

/** Columns are not put into another order, and indexes are looked at where some, or none, are declared. */
export function diff(from: Database, to: Database, { answers = [], renamesTables = false }: DiffOptions = {}): Diff {
  const used = new Set<Answer>();
  const answered: Answered = (names, table, path) => {
    const answer = answers.find((one) => one.step === undefined && one.table === table && one.path === path);
    // A misspelt new name must not be taken for none, which drops it.
    if (answer === undefined || (answer.name !== undefined && !names.includes(answer.name))) return undefined;
    used.add(answer);
    return answer;
  };
  const said: SaidStep = (like) => {
    const answer = answers.find(({ step }) => step !== undefined && isFor(step, like));
    if (answer !== undefined) used.add(answer);
    return answer?.step as typeof like | undefined;
  };
  const gone = [...from.keys()].filter((name) => !to.has(name));
  const added = [...to.keys()].filter((name) => !from.has(name));
  const unsure: Unsure[] = [];
  const impossible: string[] = [];
  const steps: Step[] = [];
  const renamed = new Map<string, string>();
  const news = () => added.filter((name) => !renamed.has(name));
  const unanswered = gone.filter((name) => {
    const answer = answered(news(), name);
    if (answer?.name !== undefined) renamed.set(answer.name, name);
    return answer === undefined;
  });
  for (const name of unanswered) {
    const like = news().filter((other) => areAlike(from.get(name)!, to.get(other)!));
    if (renamesTables && like.length > 0) unsure.push({ table: name, names: like });
  }
  for (const [name, was] of renamed) steps.push({ kind: "renameTable", table: was, name });
  for (const name of gone) if (![...renamed.values()].includes(name)) steps.push({ kind: "dropTable", table: name });
  for (const [name, wanted] of to) {
    const was = from.get(renamed.get(name) ?? name);
    if (was === undefined) {
      steps.push(
        { kind: "createTable", table: name, columns: [...wanted.columns] },
        ...indexSteps(name, { columns: wanted.columns }, wanted),
      );
      continue;
    }
    const known = renamed.get(name) ?? name;
    const change = tableSteps(name, was, wanted, { answered: (names, path) => answered(names, known, path), said });
    steps.push(...change.steps);
    unsure.push(...change.unsure.map((one) => ({ ...one, table: known })));
    impossible.push(...change.impossible);
  }
  return { ...untilRows(steps), unsure, impossible, unused: answers.filter((one) => !used.has(one)) };
}

/** What can be done before there are rows, and what can't. */
function untilRows(steps: readonly Step[]): Pick<Diff, "steps" | "later"> {
  const placed = steps.flatMap((step) => compileStep(step).map((action) => ({ step, action })));
  const waiting = [...withoutVectors(placed.map(({ action }) => action)).keys()].map((index) => placed[index]!);
  return {
    steps: steps.filter((step) => !waiting.some((one) => one.step === step)),
    later: waiting.map(({ action }) => describeAction(action)),
  };
}

/** Whether it is the same step, but for where its values come from. */
function isFor(answer: ValueStep, step: ValueStep): boolean {
  if (answer.table !== step.table || !sameType(answer.type, step.type)) return false;
  return answer.kind === "addColumn"
    ? step.kind === "addColumn" && answer.name === step.name && answer.nullable === step.nullable
    : step.kind === "retypeColumn" && formatPath(parsePath(answer.path)) === step.path;
}

/** The answer for a table, or a column of it, that may have one of these new names. */
type Answered = (names: readonly string[], table: string, path?: string) => Answer | undefined;
type TableDiff = Omit<Diff, "unused" | "later">;

/** Half of the columns of the one are in the other. */
function areAlike(one: Table, other: Table): boolean {
  const names = new Set(one.columns.map(({ name }) => name));
  return 2 * other.columns.filter(({ name }) => names.has(name)).length >= other.columns.length;
}

function tableSteps(table: string, was: Table, wanted: Table, answers: Pick<Level, "answered" | "said">): TableDiff {
  const changes: Changes = {
    renames: [],
    retypes: [],
    nulls: [],
    adds: [],
    drops: [],
    dropsAfter: [],
    unsure: [],
    impossible: [],
  };
  compareLevel(was.columns, wanted.columns, { table, before: [], after: [], ...answers, changes });
  const { unsure, impossible } = changes;
  // What is clear is told all the same.
  if (unsure.length > 0 || impossible.length > 0) return { steps: waysOf(table, changes)[0]!, unsure, impossible };
  const tries = waysOf(table, changes).map((steps) => tried(table, was, wanted, steps));
  const found =
    tries.find((one) => "steps" in one && one.isInOrder) ?? tries.find((one) => "steps" in one) ?? tries[0]!;
  return "steps" in found
    ? { steps: found.steps, unsure, impossible }
    : { steps: [], unsure, impossible: [found.problem] };
}

/** The orders in which the changes may work: a column is dropped last, but where another takes its name. */
function waysOf(
  table: string,
  { renames, retypes, nulls, adds, drops, dropsAfter }: Changes,
): readonly (readonly Step[])[] {
  const dropsOf = (paths: readonly Path[]) =>
    paths.map((path): Step => ({ kind: "dropColumn", table, path: formatPath(path) }));
  const renamesAtOnce: Step[] =
    renames.length < 2
      ? renames.map(({ path, name }) => ({ kind: "renameColumn", table, path: formatPath(path), name }))
      : [
          {
            kind: "alterColumns",
            table,
            alterations: renames.map(({ path, name }) => ({ path: formatPath(path), rename: name })),
          },
        ];
  // What is inside goes first, so that the way to it is still the old one.
  const inTurn = renames
    .toSorted((one, other) => other.path.length - one.path.length)
    .map(({ path, name }): Step => ({ kind: "renameColumn", table, path: formatPath(path), name }));
  // What is made anew comes last, as what is added does.
  const rests = [
    [...retypes, ...nulls, ...adds],
    [...adds, ...retypes, ...nulls],
  ].slice(0, retypes.length * adds.length === 0 ? 1 : 2);
  return [renamesAtOnce, inTurn].flatMap((names) =>
    rests.flatMap((rest) => [
      [...names, ...rest, ...dropsOf(dropsAfter)],
      [...dropsOf(drops), ...names, ...rest],
    ]),
  );
}

/** With its indexes, where the steps work and lead there. */
function tried(
  table: string,
  was: Table,
  wanted: Table,
  steps: readonly Step[],
): { readonly steps: readonly Step[]; readonly isInOrder: boolean } | { readonly problem: string } {
  const database = new Map([[table, was]]);
  try {
    for (const [index, step] of steps.entries()) {
      const problem = goneFrom(step, was, database.get(table)!, steps.slice(0, index));
      if (problem !== undefined) return { problem };
      for (const action of compileStep(step)) change(database, tablesAfter(database, action));
    }
    const indexes = indexSteps(table, database.get(table)!, wanted);
    for (const action of indexes.flatMap(compileStep)) change(database, tablesAfter(database, action));
    const found = database.get(table)!;
    const [wrong] = differences(wanted, { ...found, columns: inOrderOf(wanted.columns, found.columns) });
    const isInOrder = differences(wanted, found).length === 0;
    return wrong === undefined ? { steps: [...steps, ...indexes], isInOrder } : { problem: `${table}: ${wrong}` };
  } catch (error) {
    if (!isMigrateError(error)) throw error;
    return { problem: error.message };
  }
}

/** A column that the SQL of a step reads, and that has another name by then, or is dropped: what the engine would say too late. */
function goneFrom(step: Step, was: Table, now: Table, earlier: readonly Step[]): string | undefined {
  const sql = step.kind === "addColumn" ? step.as : step.kind === "retypeColumn" ? step.using : undefined;
  if (sql === undefined) return undefined;
  const words = namesIn(sql);
  const gone = was.columns.find(({ name }) => words.includes(name) && findColumn(now.columns, [name]) === undefined);
  if (gone === undefined) return undefined;
  const [place = gone.name] = earlier.reduce<Path>((at, one) => followPath(at, compileStep(one)), [gone.name]);
  const column = step.kind === "addColumn" ? step.name : (step as { readonly path: string }).path;
  const then = place === gone.name ? "is dropped before it" : `is called ${place} by then`;
  return `the SQL of ${step.table}.${column} names ${gone.name}, which ${then}`;
}

/** The same columns in the order of others, at every depth. */
function inOrderOf(order: readonly Column[], columns: readonly Column[]): readonly Column[] {
  const place = ({ name }: Column) => {
    const at = order.findIndex((one) => one.name === name);
    return at === -1 ? order.length : at;
  };
  return columns
    .toSorted((one, other) => place(one) - place(other))
    .map((column) => {
      const like = order.find(({ name }) => name === column.name);
      if (like === undefined) return column;
      return {
        ...column,
        type: withChildColumns(column.type, inOrderOf(childColumns(like.type), childColumns(column.type))),
      };
    });
}

function indexSteps(table: string, { indexes: found = {} }: Table, { indexes: wanted }: Table): readonly Step[] {
  if (wanted === undefined) return [];
  const there = Object.entries(found).flatMap(([name, index]) => (index === null ? [] : [[name, index] as const]));
  const stays = (name: string) => sameIndex(ownValue(wanted, name) ?? null, ownValue(found, name) ?? null);
  return [
    ...there.flatMap(([name]): readonly Step[] => (stays(name) ? [] : [{ kind: "dropIndex", table, name }])),
    ...Object.entries(wanted).flatMap(([name, index]): readonly Step[] => {
      if (index === null || stays(name)) return [];
      const { path, ...type } = index;
      return [{ kind: "createIndex", table, path, type, ...(name !== indexName(path) && { name }) }];
    }),
  ];
}

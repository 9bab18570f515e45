/** Compares existing tables with wanted ones: the steps, the open questions, and what no step can do. Pure. */
import { describeAction } from "../../actions/apply-action.ts";
import { sameType } from "../../schema/data-type.ts";
import { withoutNulls } from "../../schema/metadata.ts";
import { formatPath, parsePath } from "../../schema/path.ts";
import { schemaMetadataDifferences, type Database, type Table } from "../../schema/table.ts";
import { addingStep } from "../../steps/from-action.ts";
import { compileStep, type Step } from "../../steps/registry.ts";
import type { Capabilities } from "../../targets/contract/target.ts";
import { withoutVectors } from "../../plan/compile/vector-index-check.ts";
import {
  compareLevel,
  type DiffAnswer,
  type Changes,
  type Level,
  type SaidStep,
  type Unsure,
  type ValueStep,
} from "./diff-columns.ts";
import { indexSteps, tried, waysOf } from "./order-steps.ts";

export interface Diff {
  readonly steps: readonly Step[];
  readonly unsure: readonly Unsure[];
  /** Why steps can't lead to the wanted tables, as text. */
  readonly impossible: readonly string[];
  /** Vector indexes that need rows first, as text. They belong in a later migration. */
  readonly later: readonly string[];
  /** Answers to no question: about something that is not gone, or with a name that is not new. */
  readonly unused: readonly DiffAnswer[];
}

export interface DiffOptions {
  readonly answers?: readonly DiffAnswer[];
  /** Whether the target can rename tables. */
  readonly renamesTables?: boolean;
  /** Whether the target can add fields to structs. */
  readonly addsFields?: boolean;
}

/** The options that follow from what a target can do. */
export function diffAbilities({ actions }: Pick<Capabilities, "actions">): Omit<DiffOptions, "answers"> {
  return { renamesTables: actions.renameTable === true, addsFields: actions.addField === true };
}

/** Does not reorder columns. Compares indexes only of tables that declare them, even if they declare none. */
export function diff(
  from: Database,
  to: Database,
  { answers = [], renamesTables = false, addsFields = false }: DiffOptions = {},
): Diff {
  const used = new Set<DiffAnswer>();
  const answered: Answered = (names, table, path) => {
    const answer = answers.find((one) => isAbout(one, table, path));
    // An answer with a misspelt name must not count as one without a name, which would drop the column.
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
      steps.push(...creationSteps(name, wanted), ...indexSteps(name, { columns: wanted.columns }, wanted));
      continue;
    }
    const known = renamed.get(name) ?? name;
    const change = tableSteps(name, was, wanted, {
      answered: (names, path) => answered(names, known, path),
      nameSaid: (path) => answers.find((one) => isAbout(one, known, path))?.name,
      said,
      addsFields,
    });
    steps.push(...change.steps);
    unsure.push(...change.unsure.map((one) => ({ ...one, table: known })));
    impossible.push(...change.impossible);
  }
  return { ...untilRows(steps), unsure, impossible, unused: answers.filter((one) => !used.has(one)) };
}

/** Creates the table with the columns before its first computed one, then adds the others in order. */
function creationSteps(table: string, wanted: Table): readonly Step[] {
  const first = wanted.columns.findIndex(({ computed }) => computed !== undefined);
  const [given, added] =
    first === -1 ? [wanted.columns, []] : [wanted.columns.slice(0, first), wanted.columns.slice(first)];
  const metadata = withoutNulls(wanted.metadata);
  return [
    { kind: "createTable", table, columns: [...given], ...(Object.keys(metadata).length > 0 && { metadata }) },
    ...added.map((column) => addingStep(table, { ...column, nullable: true })),
    ...added.flatMap(({ name, nullable }): readonly Step[] =>
      nullable ? [] : [{ kind: "setNullable", table, path: formatPath([name]), nullable: false }],
    ),
  ];
}

function metadataProblems(table: string, was: Table, wanted: Table): readonly string[] {
  const words = schemaMetadataDifferences(wanted, { ...was, metadata: was.metadata ?? {} });
  const why = "no call changes the metadata of an existing table's schema, so only a new table can have it";
  return words.map((one) => `${table}: ${one}; ${why}`);
}

function untilRows(steps: readonly Step[]): Pick<Diff, "steps" | "later"> {
  const placed = steps.flatMap((step) => compileStep(step).map((action) => ({ step, action })));
  const waiting = [...withoutVectors(placed.map(({ action }) => action)).keys()].map((index) => placed[index]!);
  return {
    steps: steps.filter((step) => !waiting.some((one) => one.step === step)),
    later: waiting.map(({ action }) => describeAction(action)),
  };
}

function isAbout(answer: DiffAnswer, table: string, path: string | undefined): boolean {
  return answer.step === undefined && answer.table === table && answer.path === path;
}

/** Whether the steps differ only in where their values come from. */
function isFor(answer: ValueStep, step: ValueStep): boolean {
  if (answer.table !== step.table || !sameType(answer.type, step.type)) return false;
  return answer.kind === "addColumn"
    ? step.kind === "addColumn" && answer.name === step.name && answer.nullable === step.nullable
    : step.kind === "retypeColumn" && formatPath(parsePath(answer.path)) === step.path;
}

/** The answer for a table, or a column of it, that may have one of these new names. */
type Answered = (names: readonly string[], table: string, path?: string) => DiffAnswer | undefined;
type TableDiff = Omit<Diff, "unused" | "later">;

/** Whether at least half of the columns of `other` have names that `one` has too. */
export function areAlike(one: Table, other: Table): boolean {
  const names = new Set(one.columns.map(({ name }) => name));
  return 2 * other.columns.filter(({ name }) => names.has(name)).length >= other.columns.length;
}

function tableSteps(
  table: string,
  was: Table,
  wanted: Table,
  answers: Pick<Level, "answered" | "nameSaid" | "said" | "addsFields">,
): TableDiff {
  const changes: Changes = {
    renames: [],
    retypes: [],
    nulls: [],
    adds: [],
    drops: [],
    dropsAfter: [],
    dropsFirst: [],
    computed: [],
    unsure: [],
    impossible: [],
  };
  compareLevel(was.columns, wanted.columns, { table, before: [], after: [], ...answers, changes });
  changes.impossible.push(...metadataProblems(table, was, wanted));
  const { unsure, impossible } = changes;
  // The steps that are certain are returned anyway.
  if (unsure.length > 0 || impossible.length > 0) return { steps: waysOf(table, changes)[0]!, unsure, impossible };
  const tries = waysOf(table, changes).map((steps) => tried(table, was, wanted, steps));
  const found =
    tries.find((one) => "steps" in one && one.isInOrder) ?? tries.find((one) => "steps" in one) ?? tries[0]!;
  return "steps" in found
    ? { steps: found.steps, unsure, impossible }
    : { steps: [], unsure, impossible: [found.problem] };
}

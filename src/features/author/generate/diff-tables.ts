/** Compares existing tables with wanted ones: the steps, the open questions, and what no step can do. Pure. */
import { sameType } from "../../../schema/data-type.ts";
import { withoutNulls } from "../../../schema/metadata.ts";
import { formatPath, parsePath } from "../../../schema/path.ts";
import { schemaMetadataDifferences, type Database, type Table } from "../../../schema/table.ts";
import { addingStep } from "./from-action.ts";
import type { Step } from "../../../steps/registry.ts";
import type { Capabilities } from "../../../targets/contract/target.ts";
import {
  compareLevel,
  type Answers,
  type Changes,
  type DiffAnswer,
  type Level,
  type Unsure,
  type ValueStep,
} from "./diff-columns.ts";
import { indexSteps, possibleOrders, tryOrder } from "./order-steps.ts";

export interface Diff {
  readonly steps: readonly Step[];
  readonly unsure: readonly Unsure[];
  /** Why steps can't lead to the wanted tables, as text. */
  readonly impossible: readonly string[];
  /** Answers to no question: about something that is not gone, or with a name that is not new. */
  readonly unused: readonly DiffAnswer[];
}

export interface DiffOptions {
  readonly answers?: readonly DiffAnswer[];
  /** Whether the target can rename tables. */
  readonly renamesTables?: boolean;
  /** Whether the target can add fields to structs. */
  readonly addsFields?: boolean;
  /** Whether tables and columns are dropped only if an answer asks for it. */
  readonly asksDrops?: boolean;
  /** Whether the parameters of indexes are compared, which tables do not report as they were given. */
  readonly comparesParameters?: boolean;
}

/** The options that follow from what a target can do. */
export function diffCapabilities({ actions }: Pick<Capabilities, "actions">): Omit<DiffOptions, "answers"> {
  return { renamesTables: actions.renameTable === true, addsFields: actions.addField === true };
}

/** Does not reorder columns. Compares indexes only of tables that declare them, even if they declare none. */
export function diff(
  from: Database,
  to: Database,
  {
    answers: given = [],
    renamesTables = false,
    addsFields = false,
    asksDrops = false,
    comparesParameters = false,
  }: DiffOptions = {},
): Diff {
  const { unused, ...answers } = answersOf(given);
  const unsure: Unsure[] = [];
  const impossible: string[] = [];
  const steps: Step[] = [];
  const gone = [...from.keys()].filter((name) => !to.has(name));
  const added = [...to.keys()].filter((name) => !from.has(name));
  /** The old names of renamed tables, by the new ones. */
  const renamed = new Map<string, string>();
  const newNames = () => added.filter((name) => !renamed.has(name));
  const unanswered = gone.filter((table) => {
    const answer = answers.about(table);
    // An answer with a misspelt name must not count as one without a name, which would drop the table.
    if (answer === undefined || (answer.name !== undefined && !newNames().includes(answer.name))) return true;
    answers.use(answer);
    if (answer.name !== undefined) renamed.set(answer.name, table);
    return false;
  });
  for (const table of unanswered) {
    const like = newNames().filter((other) => areAlike(from.get(table)!, to.get(other)!));
    if (renamesTables && (asksDrops || like.length > 0)) unsure.push({ table, names: like });
    else if (asksDrops) unsure.push({ table, names: [], ...(like.length > 0 && { like }) });
  }
  for (const [name, table] of renamed) steps.push({ kind: "renameTable", table, name });
  const kept = new Set(renamed.values());
  const dropped = gone.filter((table) => !kept.has(table));
  // What can't be rolled back comes last, as another step may fail, unless a new table has the name in another case.
  const isInTheWay = (table: string) => added.some((name) => name.toLowerCase() === table.toLowerCase());
  const drops = Map.groupBy(dropped, isInTheWay);
  const dropping = (tables: readonly string[] = []) => tables.map((table) => ({ kind: "dropTable", table }) as const);
  steps.push(...dropping(drops.get(true)));
  for (const [table, wanted] of to) {
    const oldTable = renamed.get(table) ?? table;
    const was = from.get(oldTable);
    if (was === undefined) {
      steps.push(...creationSteps(table, wanted), ...indexSteps(table, { columns: wanted.columns }, wanted));
      continue;
    }
    const change = tableSteps(was, wanted, { table, oldTable, answers, addsFields, asksDrops }, comparesParameters);
    steps.push(...change.steps);
    unsure.push(...change.unsure);
    impossible.push(...change.impossible);
  }
  steps.push(...dropping(drops.get(false)));
  return { steps, unsure, impossible, unused: unused() };
}

function answersOf(all: readonly DiffAnswer[]): Answers & { readonly unused: () => readonly DiffAnswer[] } {
  const used = new Set<DiffAnswer>();
  return {
    about: (table, path) => all.find((one) => one.step === undefined && one.table === table && one.path === path),
    stepFor(like) {
      const answer = all.find(({ step }) => step !== undefined && isFor(step, like));
      if (answer !== undefined) used.add(answer);
      return answer?.step as typeof like | undefined;
    },
    use: (answer) => void used.add(answer),
    unused: () => all.filter((one) => !used.has(one)),
  };
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

/** Whether the steps differ only in where their values come from. */
function isFor(answer: ValueStep, step: ValueStep): boolean {
  if (answer.table !== step.table || !sameType(answer.type, step.type)) return false;
  return answer.kind === "addColumn"
    ? step.kind === "addColumn" && answer.name === step.name && answer.nullable === step.nullable
    : step.kind === "retypeColumn" && formatPath(parsePath(answer.path)) === step.path;
}

/** Whether at least half of the columns of `other` have names that `one` has too. */
export function areAlike(one: Table, other: Table): boolean {
  const names = new Set(one.columns.map(({ name }) => name));
  return 2 * other.columns.filter(({ name }) => names.has(name)).length >= other.columns.length;
}

/** The steps of one table. The steps that are certain are returned even if others are not. */
function tableSteps(
  was: Table,
  wanted: Table,
  level: Pick<Level, "table" | "oldTable" | "answers" | "addsFields" | "asksDrops">,
  comparesParameters: boolean,
): Pick<Diff, "steps" | "unsure" | "impossible"> {
  const { table } = level;
  const changes: Changes = {
    renames: [],
    retypes: [],
    nulls: [],
    adds: [],
    drops: [],
    dropsFirst: [],
    computed: [],
    unsure: [],
    impossible: [],
  };
  compareLevel(was.columns, wanted.columns, { ...level, before: [], after: [], changes });
  changes.impossible.push(...metadataProblems(table, was, wanted));
  const { unsure, impossible } = changes;
  const orders = possibleOrders(table, changes);
  if (unsure.length > 0 || impossible.length > 0) return { steps: orders[0]!, unsure, impossible };
  const tried = orders.map((steps) => tryOrder(table, was, wanted, steps, comparesParameters));
  const working = tried.filter((one) => "steps" in one);
  const best = working.find(({ isInOrder }) => isInOrder) ?? working[0];
  if (best !== undefined) return { steps: best.steps, unsure, impossible };
  return { steps: [], unsure, impossible: tried.flatMap((one) => ("problem" in one ? one.problem : [])).slice(0, 1) };
}

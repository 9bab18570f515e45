/**
 * The steps that replace an action which breaks running releases: tables are expanded, releases follow one after the
 * other, and what is left over is dropped at the end. Pure.
 */
import { tablesAfter } from "../../../actions/apply-action.ts";
import type { Action, ActionFor, AddedColumn } from "../../../actions/model/action.ts";
import type { Alteration } from "../../../actions/model/alteration.ts";
import { problemIn } from "../../../errors/migrate-error.ts";
import { itemName, typesWithin, type Column, type DataType } from "../../../schema/data-type.ts";
import { formatPath, parsePath, type Path } from "../../../schema/path.ts";
import { sqlPath } from "../../../schema/sql.ts";
import { databaseOf, findColumn, type Table, type Tables } from "../../../schema/table.ts";
import { flat } from "../../../schema/text/typescript-source.ts";
import { stepSource, type Step } from "../../../steps/registry.ts";
import type { PlannedAction } from "../../../plan/make-plan.ts";
import { columnLabel } from "./contract.ts";

/** The change of the migration file with which the sequence begins. */
type First = (step: string) => string;

/** Whether an action breaks a contract. */
export type IsBreaking = (action: Action, before: Tables, after: Tables) => boolean;

/** The sequence for an action that breaks these releases, one text for each of its steps. */
export function sequenceFor(
  { action, before, place }: Pick<PlannedAction, "action" | "before" | "place">,
  releases: readonly string[],
  isBreaking: IsBreaking,
): readonly string[] {
  const table = before.get(action.table)!;
  const leave = leaving(releases);
  // The refused step stays in its file otherwise, and is refused again.
  const first = (step: string) => `In ${place.file}, replace this step with ${step}.`;
  switch (action.kind) {
    case "alterColumns":
      return forAlteration(action.table, table, breakingOf(action, before, isBreaking), leave, first);
    case "convertColumn": {
      const old = findColumn(table.columns, parsePath(action.path))!;
      return replacing(action.table, table, { ...action, nullable: old.nullable, fill: action.using }, leave, first);
    }
    case "switchColumn":
      return reembedding(action, table, leave, first);
    case "addColumns":
      return action.columns
        .filter(({ nullable }) => !nullable)
        .flatMap((one) => adding(action.table, one, leave, first));
    case "addField":
      return [
        `${first(addColumn(action.table, freeName(table, parsePath(action.path)), action.type))} The field would make the engine write the whole struct again.`,
      ];
    case "dropColumns":
      return dropping(action, table, leave);
    case "renameTable":
      return movingTable(action, leave, first);
    default:
      return [`Deploy a release that does not use ${action.table}. ${leave}`, "Run this migration."];
  }
}

/** The sequence for a rollback that breaks these releases. */
export function sequenceBack(releases: readonly string[]): readonly string[] {
  return [
    `Deploy a release that works with the tables before and after the rollback. ${leaving(releases)}`,
    "Roll back.",
  ];
}

function leaving(releases: readonly string[]): string {
  return `Stop ${releases.join(" and ")}, and remove ${releases.length === 1 ? "its contract" : "their contracts"}.`;
}

/** The first alteration that breaks a contract by itself; the first of all if none does. */
function breakingOf(action: ActionFor<"alterColumns">, before: Tables, isBreaking: IsBreaking): Alteration {
  const database = databaseOf(before);
  const found = action.alterations.find((one) => {
    const alone: Action = { ...action, alterations: [one] };
    let after: Tables | undefined;
    const problem = problemIn(() => (after = tablesAfter(database, alone)));
    return problem === undefined && isBreaking(alone, before, after!);
  });
  return found ?? action.alterations[0]!;
}

function forAlteration(
  table: string,
  before: Table,
  alteration: Alteration,
  leave: string,
  first: First,
): readonly string[] {
  const { path, rename, type, nullable } = alteration;
  const old = findColumn(before.columns, parsePath(path))!;
  const place = columnLabel(table, parsePath(path));
  if (rename === undefined && type === undefined)
    return nullable === true
      ? [`Deploy a release that accepts nulls in ${place}. ${leave}`, "Run this migration."]
      : [
          `Deploy a release that always writes ${place}, with "not null" in its contract. ${leave}`,
          `A migration with execute, which sets ${path} in the rows where it is null.`,
          `Run this migration. ${reopened}`,
        ];
  const replacement = { path, rename, type: type ?? old.type, nullable: nullable ?? old.nullable };
  return replacing(table, before, replacement, leave, first);
}

const reopened = "Where a release has the table open already, it can append again after checkoutLatest.";

interface Replacement {
  readonly path: string;
  readonly rename?: string | undefined;
  readonly type: DataType;
  readonly nullable: boolean;
  /** SQL for the values; the old ones when absent. */
  readonly fill?: string | undefined;
}

/** A new column takes the place of an old one, or of a field. */
function replacing(
  table: string,
  before: Table,
  { path, rename, type, nullable, fill }: Replacement,
  leave: string,
  first: First,
): readonly string[] {
  const at = parsePath(path);
  const old = findColumn(before.columns, at)!;
  const name = freeName(before, [...at.slice(0, -1), rename ?? at.at(-1)!]);
  const [was, now] = [columnLabel(table, at), columnLabel(table, [name])];
  return [
    first(addColumn(table, name, type)),
    `Deploy a release that reads ${was} and writes both ${was} and ${now}. ${leave}`,
    isInList(before, at)
      ? `A migration that fills ${now}.`
      : `A migration with ${call({ kind: "execute", table, change: copying(at, name, old.type, type, fill) })}, and with ${lossy}.`,
    `Deploy a release that reads ${now} and writes both. ${leaveLast}`,
    ...withoutColumn(table, path, old, `Deploy a release that reads and writes only ${now}. ${leaveLast}`),
    ...(nullable ? [] : [`If it should be not null: a migration with ${strict(table, name)}. ${reopened}`]),
  ];
}

const lossy = 'accepts = ["lossy"]';

const leaveLast = "Stop the release before it, and remove its contract.";

/** A release that does not write a column comes between two migrations if the column is not null. */
function withoutColumn(table: string, path: string, { nullable }: Column, release: string): readonly string[] {
  const loose: Step = { kind: "setNullable", table, path, nullable: true };
  return [
    ...(nullable ? [] : [`A migration with ${call(loose)}.`]),
    release,
    `A migration with ${call({ kind: "dropColumn", table, path })}, and with ${lossy}.`,
  ];
}

/** Copies the values in the rows where they differ, if the engine can compare them: the old release may change them. */
function copying(at: Path, name: string, from: DataType, to: DataType, fill: string | undefined) {
  const value = fill ?? sqlPath(at);
  const own = sqlPath([name]);
  const where = `${own} is null or ${own} <> ${value} or ${value} is null`;
  const isComparable = fill === undefined && from.kind === to.kind && isScalar(from);
  return { update: { [formatPath([name])]: value }, ...(isComparable && { where }) };
}

function isScalar(type: DataType): boolean {
  return typesWithin(type).length === 1 && !["struct", "dictionary", "unknown", "null"].includes(type.kind);
}

function isInList({ columns }: Table, path: Path): boolean {
  return path.slice(0, -1).some((_, index) => findColumn(columns, path.slice(0, index + 1))!.type.kind !== "struct");
}

function adding(table: string, { name, type, as }: AddedColumn, leave: string, first: First): readonly string[] {
  const place = columnLabel(table, [name]);
  const fill: Step | undefined =
    as === undefined
      ? undefined
      : {
          kind: "execute",
          table,
          change: { update: { [formatPath([name])]: as }, where: `${sqlPath([name])} is null` },
        };
  return [
    first(addColumn(table, name, type)),
    `Deploy a release that always writes ${place}. ${leave}`,
    `A migration with ${fill === undefined ? `execute, which sets ${name} in the rows where it is null,` : call(fill)} and ${strict(table, name)}. ${reopened}`,
  ];
}

function dropping({ table, paths }: ActionFor<"dropColumns">, before: Table, leave: string): readonly string[] {
  return paths.flatMap((path) => {
    const column = findColumn(before.columns, parsePath(path))!;
    const place = columnLabel(table, parsePath(path));
    if (column.nullable || column.computed !== undefined)
      return [`Deploy a release that neither reads nor writes ${place}. ${leave}`, "Run this migration."];
    const [loose, release] = withoutColumn(
      table,
      path,
      column,
      `Deploy a release that does not write ${place} either. ${leaveLast}`,
    );
    return [
      `Deploy a release that writes ${place} and does not read it. ${leave}`,
      loose!,
      release!,
      "Run this migration.",
    ];
  });
}

function reembedding(
  { table, path, type }: ActionFor<"switchColumn">,
  before: Table,
  leave: string,
  first: First,
): readonly string[] {
  const at = parsePath(path);
  const name = freeName(before, at);
  const [was, now] = [columnLabel(table, at), columnLabel(table, [name])];
  return [
    `Deploy a release that names the column that it searches, ${was}: a search that names none fails as soon as there are two. ${leave}`,
    first(addColumn(table, name, type)),
    `Deploy a release that searches ${was}, and writes both ${was} and, with the new model, ${now}. ${leaveLast}`,
    `A migration that sets ${now} to null, since the release before may have changed what it was computed from; computes it with backfillColumn and the code of this step; and creates its index.`,
    `Deploy a release that searches ${now} and writes both. ${leaveLast}`,
    ...withoutColumn(
      table,
      path,
      findColumn(before.columns, at)!,
      `Deploy a release that uses only ${now}. ${leaveLast}`,
    ),
  ];
}

function movingTable({ table, name }: ActionFor<"renameTable">, leave: string, first: First): readonly string[] {
  return [
    `${first(`one that creates the table ${name} with the same columns`)} It is simpler to keep the name ${table}.`,
    `Deploy a release that reads ${table} and writes to both tables. ${leave}`,
    `Copy the rows that ${name} lacks.`,
    `Deploy a release that reads ${name} and writes to both. ${leaveLast}`,
    `Deploy a release that uses only ${name}. ${leaveLast}`,
    `A migration with ${call({ kind: "dropTable", table })}, and with accepts = ["irreversible"].`,
  ];
}

/** A name that no column of the table has, for a column that takes the place of the one at this path. */
function freeName({ columns }: Table, path: Path): string {
  const taken = new Set(columns.map((column) => column.name.toLowerCase()));
  const base = path.join("_").replaceAll(".", "_");
  let name = base;
  for (let number = 2; taken.has(name.toLowerCase()); number++) name = `${base}_${number}`;
  return name;
}

function addColumn(table: string, name: string, type: DataType): string {
  if (!hasBuilder(type)) return `a new nullable column ${columnLabel(table, [name])}`;
  return call({ kind: "addColumn", table, name, type, nullable: true });
}

function hasBuilder(type: DataType): boolean {
  return typesWithin(type).every((one) => one.kind !== "unknown" && (!("item" in one) || one.item.name === itemName));
}

function strict(table: string, name: string): string {
  return call({ kind: "setNullable", table, path: formatPath([name]), nullable: false });
}

/** A step as a migration contains it. */
function call(step: Step): string {
  return flat(stepSource(step), "");
}

import { conflict } from "../../model/conflict.ts";
import type { Action, ActionFor, AddFieldAction } from "../../model/action.ts";
import type { Alteration } from "../../model/alteration.ts";
import { castVerdict } from "../../../schema/cast-rules.ts";
import { checkNotComputed, checkNotRead, declareAgain } from "../../rewrite/computed-columns.ts";
import {
  childColumns,
  formatColumn,
  formatType,
  holdsNullField,
  withChildColumns,
  type Column,
} from "../../../schema/data-type.ts";
import { extensionIn } from "../../../schema/reserved-metadata.ts";
import { withoutMetadata } from "../../../schema/metadata.ts";
import { madeName } from "../../../schema/names.ts";
import { formatPath, parsePath, type Path } from "../../../schema/path.ts";
import { findColumn, leavesOf, replaceColumn, requireColumn, checkColumns } from "../../../schema/table.ts";
import { checkAdded } from "./add-columns.ts";
import { alterColumns } from "./alter-columns.ts";
import type { ActionModel } from "../../model/action-model.ts";

export const addField: ActionModel<AddFieldAction> = {
  kind: "addField",
  after: (before, { table, path, type, nullable, as }) => {
    const at = parsePath(path);
    const around = at.slice(0, -1);
    const field = withoutMetadata({ name: at.at(-1)!, type, nullable: true });
    checkColumns([field], `${table}.${formatPath(around)}`);
    checkAround(table, before.columns, at);
    if (!nullable || as !== undefined)
      throw conflict(
        table,
        `${path} is a field of a struct, which can only be added nullable and without values; retypeColumn with \`using\` makes ${at[0]!} as a whole, with the values that an expression gives`,
      );
    checkAdded(childColumns(findColumn(before.columns, around)!.type), [field], `${table}.${formatPath(around)}`);
    const columns = replaceColumn(before.columns, around, (struct) => ({
      ...struct,
      type: withChildColumns(struct.type, [...childColumns(struct.type), field]),
    }));
    checkCast(table, columns, at);
    return { ...before, columns };
  },
  needs: ["addField", "addColumns", "dropColumns", "alterColumns"],
  rewrites: ({ path }) => new Set(parsePath(path).slice(0, 1)),
  commits: (action, before, able) => {
    const { table, path } = action;
    const [name, around] = [parsePath(path).at(-1)!, parsePath(path).slice(0, -1)];
    // Under its temporary name the field is added in one commit.
    if (name === madeName) return [{ action }];
    const made = formatPath([...around, madeName]);
    const adding: AddFieldAction = { ...action, path: made };
    const between = addField.after(before, adding);
    const casting = castingTo(name, adding);
    const commits = alterColumns.commits!(casting, between, able);
    return commits.flatMap((commit) => {
      if (commit.action !== casting) return [commit];
      const { undo = [] } = commit;
      const dropping: Action = { kind: "dropColumns", table, paths: [made] };
      return [
        { action: adding, undo },
        { ...commit, undo: [dropping, ...undo] },
      ];
    });
  },
  invert: ({ table, path }) => ({
    actions: [{ kind: "dropColumns", table, paths: [path] }],
    blockers: [{ kind: "values", table, path }],
  }),
  gives: ({ path }) => [{ path: parsePath(path), sql: "null" }],
  describe: ({ table, path, type }) => `add ${table}.${formatColumn({ name: path, type, nullable: true })}`,
  risks: ({ table, path }) => [
    {
      kind: "writers",
      text: `appends by others are refused while ${table}.${formatPath(parsePath(path).slice(0, 1))} is written again with its new field`,
    },
  ],
};

/**
 * The advice for a field that can't be added by itself. The engine casts a struct to one with more fields, which are
 * null.
 */
export function asWhole(column: string): string {
  return `retypeColumn with { using: "${column}" } makes ${column} as a whole, with the field, as the last column`;
}

/** A column with a field of type null, or of a type that SQL can't make, can't be rebuilt as a whole either. */
function wayOut(columns: readonly Column[], at: Path): string {
  const { name, type } = findColumn(columns, at.slice(0, 1))!;
  return holdsNullField(type) || extensionIn(type) !== undefined
    ? `${name} can only be created with its table`
    : asWhole(name);
}

/**
 * Renames the new field from its temporary name and casts it to its own type. The target then casts the other fields of
 * the struct to their own types too, which writes the struct again.
 */
function castingTo(name: string, { table, path, type }: AddFieldAction): ActionFor<"alterColumns"> {
  const around = parsePath(path).slice(0, -1);
  const types = new Map(
    leavesOf({ name: madeName, type, nullable: true }, around).map((leaf) => [formatPath(leaf.path), leaf.type]),
  );
  const own: Alteration = { path, rename: name, type: types.get(path) };
  types.delete(path);
  return { kind: "alterColumns", table, alterations: [own, ...[...types].map(([path, type]) => ({ path, type }))] };
}

function checkAround(table: string, columns: readonly Column[], at: Path): void {
  const problem = (words: string) => conflict(table, `${formatPath(at)} can't be added: ${words}`);
  for (const [index] of at.slice(0, -1).entries()) {
    const path = at.slice(0, index + 1);
    const { type, nullable } = requireColumn(table, columns, path);
    const name = formatPath(path);
    if (childColumns(type).length > 0 && type.kind !== "struct")
      throw problem(
        `${name} is ${formatType(type)}, and the field can't be added to a struct inside a list; ${wayOut(columns, at)}`,
      );
    if (type.kind !== "struct") throw problem(`${name} is ${formatType(type)}, and only a struct has fields`);
    if (!nullable)
      throw problem(
        `the engine could not read ${name} any more, as it is not null; let it hold nulls with setNullable in a step before, and make it not null again in one after`,
      );
  }
  checkNotRead(table, columns, at, "added");
  checkNotComputed(table, columns, at, declareAgain);
}

/** Refuses a struct with a field that can't be cast: to write the struct again, the engine casts all its fields. */
function checkCast(table: string, columns: readonly Column[], at: Path): void {
  const stuck = leavesOf(findColumn(columns, at.slice(0, 1))!).find(({ type }) => !castVerdict(type, type).allowed);
  if (stuck === undefined) return;
  throw conflict(
    table,
    `${formatPath(at)} can't be added: the engine writes the fields of a struct only all together, and casts none that is ${formatType(stuck.type)} (${formatPath(stuck.path)}); ${wayOut(columns, at)}`,
  );
}

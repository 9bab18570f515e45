/**
 * The rollback of a table of which a migration loses something: restores an old version, or drops what the migration
 * created. Pure.
 */
import type { TableVersions } from "../../ledger/state/record.ts";
import { problemIn } from "../../errors/migrate-error.ts";
import type { Action } from "../../actions/model/action.ts";
import { changesRows, tablesOfAction, invert } from "../../actions/apply-action.ts";
import { ownValue, sameColumns } from "../../schema/data-type.ts";
import type { RowValues } from "../../schema/row-values.ts";
import { databaseOf, differences, type Database, type Table } from "../../schema/table.ts";
import type { Blocker, Inverse } from "../../actions/model/inverse.ts";
import type { PlacedAction } from "../compile/compile.ts";
import { replay } from "../compile/replay.ts";
import type { Lineage } from "../../actions/follow.ts";
import { leftBehind, putBackColumns } from "./reinsert-rows.ts";

export interface RestoreOptions {
  /** Whether the target can restore an old version. */
  readonly able: boolean;
  /** The versions of tables before and after the migration, from the ledger. */
  readonly tables: TableVersions;
  /** Whether rows written since are reinserted, if possible. */
  readonly reinserts: boolean;
  /** An action that stopped between its commits, of which it is unknown how much is done. */
  readonly unsure?: Action | undefined;
}

/** An action that ran, and its inverse. */
export interface RanAction extends PlacedAction {
  readonly lineage: Lineage;
  readonly way: Inverse;
}

/** The inverse of each action that ran. Updates `database` to the state after all of them. */
export function inversesOf(
  ran: readonly PlacedAction[],
  lineages: readonly Lineage[],
  database: Map<string, Table>,
): readonly RanAction[] {
  return replay(database, ran, (one, before, _, index) => {
    const was = databaseOf(before);
    const way = leadingBack(one.action, invert(one.action, was), was);
    return { ...one, lineage: lineages[index]!, way };
  });
}

/** Replaces an inverse by `lost` if the engine would refuse it, or if it does not lead back. */
function leadingBack(action: Action, way: Inverse, before: Database): Inverse {
  if ("lost" in way) return way;
  const database = new Map(before);
  const problem = problemIn(() =>
    replay(
      database,
      [action, ...way.actions].map((one) => ({ action: one })),
    ),
  );
  if (problem !== undefined) return { lost: problem.message };
  const [wrong] = tablesOfAction(action).flatMap((name) => differences(before.get(name), database.get(name)));
  return wrong === undefined ? way : { lost: `that does not lead back: ${wrong}` };
}

type Way = Exclude<Inverse, { readonly lost: string }>;

const nothing: Way = { actions: [], blockers: [] };

/** The tables of which something is lost. */
export function lostIn(ran: readonly RanAction[]): ReadonlySet<Lineage> {
  return new Set(ran.flatMap(({ way, lineage }) => ("lost" in way ? [lineage] : [])));
}

/** The actions on a table, in order. */
export function actionsOn(lineage: Lineage, ran: readonly RanAction[]): readonly Action[] {
  return ran.filter((one) => one.lineage === lineage).map(({ action }) => action);
}

/** Why a table that loses this cannot be rolled back at all; undefined if it can. */
export function unrestorable(
  { way, lineage: { origin } }: Pick<RanAction, "way" | "lineage">,
  { able, tables }: Pick<RestoreOptions, "able"> & { readonly tables?: TableVersions | undefined },
): string | undefined {
  // A table that the migration created is dropped with what it held.
  if (!("lost" in way) || origin === undefined) return undefined;
  if (way.isGone === true || !able) return way.lost;
  if (tables === undefined || ownValue(tables, origin)?.[0] != null) return undefined;
  return `${way.lost}, and the ledger does not know which version ${origin} had before`;
}

/** The part of one action in the rollback of its table as a whole, if something of the table is lost. */
export function wayOfLost(
  { action, lineage, way }: RanAction,
  ran: readonly RanAction[],
  before: Database,
  after: Database,
  restoring: RestoreOptions,
): Way {
  const own = actionsOn(lineage, ran);
  const isOfTable = action.kind === "createTable" || action.kind === "renameTable";
  const moves = isOfTable && lineage.last !== undefined && !("lost" in way) ? way : nothing;
  const { origin, last } = lineage;
  if (origin === undefined || last === undefined) return withOwnRows(moves, own, restoring);
  if (own[0] !== action) return moves;
  const back = restoration(origin, own, before.get(origin)!, after.get(last)!, restoring);
  const at = moves.actions.length;
  return {
    actions: [...moves.actions, ...back.actions],
    blockers: [...moves.blockers, ...back.blockers.map((blocker) => ({ ...blocker, at }))],
  };
}

function restoration(
  table: string,
  actions: readonly Action[],
  before: Table,
  after: Table,
  { tables, reinserts, unsure }: RestoreOptions,
): Way {
  const [found, end, others, times] = ownValue(tables, table)!;
  const version = found!;
  const own = { table, version, after: end ?? version };
  const isUnsure = unsure !== undefined && actions.includes(unsure);
  const isSilent = isUnsure || sameColumns(before.columns, after.columns);
  // If the migration itself wrote rows, only rows after its end are known to be those of others.
  const writes = actions.some(changesRows);
  const since = end !== null && others !== true ? end : writes ? undefined : version;
  const checks = reinserts && since !== undefined;
  // The columns of rows may be those before the stopped action, or those after it.
  const columns = checks && !isUnsure ? putBackColumns(before, after, actions) : undefined;
  const leaves = columns === undefined ? [] : leftBehind(before, after, actions);
  return {
    actions: [
      { kind: "restoreTable", ...own, at: times?.[0] ?? undefined, as: before, isSilent },
      ...(checks ? [{ kind: "putBackRows" as const, ...own, since, writes, columns }] : []),
    ],
    blockers: [{ kind: "since", table, version: since, writes, leaves }],
  };
}

/**
 * Rows that a migration wrote to its own table are dropped with it and do not block. They are identified by the table's
 * version or, without versions, only counted. `own`: the migration's actions on the table.
 */
export function withOwnRows(
  { actions, blockers }: Way,
  own: readonly Action[],
  { able, tables }: Pick<RestoreOptions, "able" | "tables">,
): Way {
  const isGiven = given(own).length > 0 || own.some(changesRows);
  const [before, after, others] = ownValue(tables, own[0]!.table) ?? [];
  // If there is a version from before the migration, the name belonged to another table then.
  const version = before == null && others !== true ? (after ?? null) : null;
  // How many rows code computes is unknown; with versions, those that were written since are.
  const isComputed = able && own.some(({ kind }) => kind === "populateTable");
  const rows = { own: isComputed ? Infinity : ownRows(own), ...(able && isGiven && { version }) };
  const end = others === true ? null : (after ?? null);
  return {
    actions,
    blockers: blockers.flatMap((blocker): readonly Blocker[] => {
      if (blocker.kind === "rows") return [{ ...blocker, ...rows }];
      if (blocker.kind !== "filled") return [blocker];
      // Without versions, own values cannot be distinguished from those of others.
      return able ? [{ ...blocker, version: end }] : [];
    }),
  };
}

function given([first]: readonly Action[]): readonly RowValues[] {
  return first?.kind === "createTable" ? (first.rows ?? []) : [];
}

function ownRows(own: readonly Action[]): number {
  // After a deletion, the number of own rows that are left is unknown.
  if (own.some(({ kind }) => kind === "deleteRows")) return 0;
  const created = given(own);
  const inserts = own.flatMap((action) => (action.kind === "insertRows" ? [action] : []));
  const key = inserts[0]?.key;
  if (key === undefined || inserts.some((one) => one.key !== key)) return created.length;
  // A row whose key exists is not inserted.
  const keys = [...created, ...inserts.flatMap(({ rows }) => rows)].map((row) => String(row[key]));
  return new Set(keys).size;
}

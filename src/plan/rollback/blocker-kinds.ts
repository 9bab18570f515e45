/** The kinds of blockers: the rows that each is about, when these block, and the texts about them. Pure. */
import { count, formatNumber } from "../../errors/migrate-error.ts";
import type { Blocker } from "../../actions/model/inverse.ts";
import { castVerdict } from "../../schema/cast-rules.ts";
import { formatType, type DataType, type TimeUnit } from "../../schema/data-type.ts";
import type { Path } from "../../schema/path.ts";
import { replaceColumn } from "../../schema/table.ts";
import { holdsVectors } from "../../schema/table-index.ts";
import { perSecond } from "../../time/iso-time.ts";
import { castSql } from "../../wire/arrow/arrow-cast.ts";

/** A column as a query reads it. */
interface AskedColumn {
  readonly sql: string;
  /** The column's type at the point that the blocker is about. */
  readonly type: DataType;
  /** Where the blocker is inside the column, if that is a list. */
  readonly inside: Path;
  /** The casts between now and that point. */
  readonly casts: readonly DataType[];
}

/** Which rows block a rollback. */
export interface RowLimit {
  /** Up to this many rows do not block. */
  readonly allowed: number;
  /**
   * Rows that existed at this version of the table do not block; null if that version is unknown. If absent, all rows
   * beyond `allowed` block.
   */
  readonly since?: number | null | undefined;
  /** Fewer rows than this block. */
  readonly least?: number;
  /** Describes the blocker. `rows`: undefined if unknown. `written`: how many of them were written since. */
  readonly words: (rows: number | undefined, written?: number) => string;
  /** Whether the rollback may continue with consent: only what was written since is lost. */
  readonly mayLose: boolean;
  /** Whether the target itself refuses the action that these rows block. */
  readonly isRefused: boolean;
}

/** The names of the table and the column now. */
interface CurrentColumn {
  readonly table: string;
  readonly column: string;
  /** Whether the rows can be queried. */
  readonly isAsked: boolean;
}

interface BlockerKind<Own> {
  /** When a rollback is refused, as text. */
  readonly condition: (own: Own) => string;
  /** Matches the rows that it is about; undefined if no query decides that. Absent: all rows, or none. */
  readonly predicate?: (own: Own, column: AskedColumn) => string | undefined;
  /** Absent if it is not about single rows. */
  readonly limit?: (own: Own, place: CurrentColumn) => RowLimit;
  /** Why `up` will fail on this many rows; undefined if it will not. `column`: its name now. */
  readonly failure?: (own: Own, column: string, rows: number) => string | undefined;
}

const noLimit = Number.POSITIVE_INFINITY;
const refused = { allowed: 0, mayLose: false, isRefused: true };
const losing = { allowed: 0, mayLose: true, isRefused: false };

const kinds: { readonly [Kind in Blocker["kind"]]: BlockerKind<Extract<Blocker, { readonly kind: Kind }>> } = {
  null: {
    condition: ({ table, path }) => `refused if ${table}.${path} holds nulls`,
    // The engine itself checks nulls inside lists.
    predicate: (_, { sql, inside }) => (inside.length > 0 ? undefined : `${sql} IS NULL`),
    limit: (_, { column }) => ({
      ...refused,
      words: (rows = 0) => `${rowsOf(column, rows, "is", "are")} null, and it was not null before`,
    }),
    failure: (_, column, rows) =>
      rows === 0
        ? undefined
        : `${column} is null in ${count(rows, "row")} now; fill them in a step before, or in the application`,
  },
  vectors: {
    condition: ({ table, path, least }) => `refused if ${table}.${path} holds fewer than ${count(least, "vector")}`,
    predicate: (_, { sql, type, inside }) => (inside.length > 0 ? undefined : holdsVectors(sql, type)),
    limit: ({ least }, { column }) => ({
      ...refused,
      allowed: noLimit,
      least,
      words: (rows = 0) =>
        `${column} has ${count(rows, "vector")}, and its index needs at least ${least} to be made again`,
    }),
    failure: ({ least }, column, rows) =>
      rows >= least
        ? undefined
        : `${column} has ${count(rows, "vector")} now, and this index is made of ${least} at least; apply this migration once there are as many`,
  },
  // No query over single rows finds it.
  key: { condition: ({ table, path }) => `refused if ${table}.${path} is the same in several rows` },
  values: {
    condition: ({ table, path }) => `refused if ${table}.${path} holds values`,
    predicate: (_, { sql }) => `${sql} IS NOT NULL`,
    limit: (_, { column }) => ({
      ...losing,
      words: (rows) =>
        rows === undefined
          ? `values of ${column} can't be looked for here, and the rollback drops them`
          : `${rowsOf(column, rows, "has a value", "have values")}, which the rollback drops`,
    }),
  },
  filled: {
    condition: writtenSince,
    predicate: (_, { sql }) => `${sql} IS NOT NULL`,
    limit: ({ version }, { table, column }) => ({
      ...losing,
      allowed: noLimit,
      since: version,
      words: (rows = 0, written) =>
        written === undefined
          ? `${rowsOf(column, rows, "has a value", "have values")}, of which an unknown number was written since; the rollback drops them`
          : `${count(written, "row")} of ${table} ${written === 1 ? "was" : "were"} written since, and the rollback drops values of ${column}`,
    }),
  },
  misfit: {
    condition: changedAs,
    predicate: (own, column) => (column.inside.length > 0 ? undefined : misfitOf(column, own.to)),
    limit: ({ to }, { column }) => ({
      ...refused,
      words: (rows = 0) => `${rowsOf(column, rows, "does", "do")} not fit ${formatType(to)}`,
    }),
    failure: ({ to }, column, rows) =>
      rows === 0
        ? undefined
        : `${count(rows, "row")} of ${column} can't become ${formatType(to)} now; change them in a step before, or in the application`,
  },
  cast: {
    condition: changedAs,
    predicate({ to }, { sql, type, inside, casts }) {
      const [was] = replaceColumn([{ name: "", type, nullable: true }], ["", ...inside], (one) => ({
        ...one,
        type: to,
      }));
      const is = castTo(sql, casts);
      const back = castTo(is, [was!.type, type]);
      return `${sql} IS NOT NULL AND (${back} IS NULL OR ${back} <> ${is})`;
    },
    limit({ from, to }, { column }) {
      const verdict = castVerdict(from, to);
      const back = `back from ${formatType(from)} to ${formatType(to)}`;
      return {
        allowed: 0,
        words: (rows) =>
          rows === undefined
            ? `values of ${column} can't be compared here, and may not come ${back} as they are`
            : `${rowsOf(column, rows, "does", "do")} not come ${back} as ${rows === 1 ? "it is" : "they are"}`,
        // A value that does not fit is refused, whatever the consent.
        mayLose: verdict.allowed && verdict.mayLose && !verdict.mayFail,
        isRefused: verdict.allowed && !verdict.mayLose,
      };
    },
  },
  rows: {
    condition: (own) =>
      own.version !== undefined
        ? writtenSince(own)
        : `refused if ${own.table} holds ${own.own === 0 ? "rows" : "more rows"}`,
    limit: ({ own, version }, { table, isAsked }) => ({
      ...losing,
      allowed: isAsked ? own : noLimit,
      since: isAsked ? version : undefined,
      words(rows, written) {
        if (rows === undefined) return `rows of ${table} can't be counted here, and it goes with them`;
        const since = written === undefined ? "of which an unknown number was" : `${formatNumber(written)} of them`;
        return `${table} has ${count(rows, "row")}, ${since} written since, and goes with them`;
      },
    }),
  },
  since: { condition: writtenSince },
};

export function kindOf({ kind }: Blocker): BlockerKind<Blocker> {
  // Each kind accepts only its own blockers, which TypeScript can't infer through the lookup.
  return kinds[kind] as unknown as BlockerKind<Blocker>;
}

function writtenSince({ table }: Pick<Blocker, "table">): string {
  return `refused if rows of ${table} were written since`;
}

function changedAs({ table, path, to }: Extract<Blocker, { readonly to: DataType }>): string {
  return `refused if values of ${table}.${path} would change as ${formatType(to)}`;
}

function rowsOf(column: string, rows: number, one: string, many: string): string {
  return `${count(rows, "row")} of ${column} ${rows === 1 ? one : many}`;
}

/** A predicate for values that the engine's cast refuses; undefined if that cannot be decided value by value. */
function misfitOf({ sql, type: from, casts }: AskedColumn, to: DataType): string | undefined {
  // A single value does not show whether a dictionary has room for all of them.
  if (to.kind === "dictionary") return undefined;
  // For a date out of range, the engine's cast yields another time, but `arrow_try_cast` yields null.
  if ((from.kind === "date32" || from.kind === "date64") && to.kind === "timestamp") return undefined;
  const is = castTo(sql, casts);
  if (from.kind === "timestamp" && to.kind === "date32") return isOutsideCalendar(is, from.unit);
  const cast = castTo(is, [to]);
  if (!("item" in from)) return `${is} IS NOT NULL AND ${cast} IS NULL`;
  // In a list, single items become null, so the result must be compared with the original.
  const verdict = castVerdict(from, to);
  return verdict.allowed && verdict.mayLose
    ? undefined
    : `${is} IS NOT NULL AND (${cast} IS NULL OR ${castTo(cast, [from])} <> ${is})`;
}

/** Where the engine has no date for a time, and a query with `arrow_try_cast` fails as the cast itself does (measured). */
function isOutsideCalendar(sql: string, unit: TimeUnit): string {
  const [first, end] = [Date.UTC(-262_143, 0, 1), Date.UTC(262_143, 0, 1)].map(
    (ms) => BigInt(ms / 1_000) * perSecond[unit],
  );
  return unit === "ns" ? "false" : `arrow_cast(${sql}, 'Int64') NOT BETWEEN ${first} AND ${end! - 1n}`;
}

/** The casts one after another. Null for a value that does not fit. */
export function castTo(sql: string, types: readonly DataType[]): string {
  return types.reduce((inner, type) => castSql(inner, type, "arrow_try_cast"), sql);
}

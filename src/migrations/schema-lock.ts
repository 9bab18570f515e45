/**
 * `migrations/lock.json`: the checksum of each migration, and the tables after the last one. Two branches that add
 * migrations both change the end of the list of migrations, so git reports a conflict instead of merging them silently.
 * Pure.
 */
import { withoutMark } from "../checks/byte-order-mark.ts";
import { formatType } from "../schema/data-type.ts";
import { knownMetadata } from "../schema/metadata.ts";
import type { Database, Table } from "../schema/table.ts";
import { formatIndex } from "../schema/table-index.ts";
import { shortHash } from "./checksum.ts";
import { formatMigration, type MigrationName } from "./file-name.ts";

export const lockName = "lock.json";

/** The checksum is undefined if the steps are yet to be written. */
export type LockEntry = MigrationName & { readonly checksum: string | undefined };

type LockMember = readonly [name: string, value: string | null | readonly LockMember[]];

/** The text of the file. It is deterministic, and formatters do not change it. */
export function lockText(migrations: readonly LockEntry[], database: Database): string {
  const tables = [...database].toSorted(([one], [other]) => (one < other ? -1 : 1));
  const members: readonly LockMember[] = [
    ["migrations", migrations.map((one) => [formatMigration(one), one.checksum ? shortHash(one.checksum) : null])],
    ["tables", tables.map(([name, table]) => [name, tableMembers(table)])],
  ];
  return `${objectText(members, "")}\n`;
}

function tableMembers({ columns, indexes = {}, metadata: ofSchema = {} }: Table): readonly LockMember[] {
  const known = Object.entries(indexes)
    .flatMap(([name, index]) => (index === null ? [] : [[name, `${formatIndex(index)} on ${index.path}`] as const]))
    .toSorted(([one], [other]) => (one < other ? -1 : 1));
  const metadata = knownMetadata(columns).map(([path, own]) => [path, Object.entries(own).toSorted()] as const);
  return [
    [
      "columns",
      columns.map(({ name, type, nullable, computed }) => [
        name,
        `${formatType(type)}${nullable ? "" : " not null"}${computed === undefined ? "" : ` computed from ${computed}`}`,
      ]),
    ],
    ...(known.length === 0 ? [] : [["indexes", known] as const]),
    ...(metadata.length === 0 ? [] : [["metadata", metadata] as const]),
    ...(Object.keys(ofSchema).length === 0 ? [] : [["schemaMetadata", Object.entries(ofSchema).toSorted()] as const]),
  ];
}

/** JSON with members in the given order. JSON.stringify would put names that are whole numbers first. */
function objectText(members: readonly LockMember[], indent: string): string {
  if (members.length === 0) return "{}";
  const inner = `${indent}  `;
  const lines = members.map(([name, value]) => {
    const text = typeof value === "object" && value !== null ? objectText(value, inner) : JSON.stringify(value);
    return `${inner}${JSON.stringify(name)}: ${text}`;
  });
  return `{\n${lines.join(",\n")}\n${indent}}`;
}

const ifSameNumber = "if two branches took the same number, run migrate rebase first";

const ifApplied = "if a database has applied it, restore its file instead";

/** What is wrong with a lock file, as text; undefined if nothing is. `wanted`: the text that it should have. */
export function lockProblem(text: string, wanted: string): string | undefined {
  if (/^<{7} /m.test(text)) return `holds the conflict markers of git (${ifSameNumber})`;
  let found: { readonly migrations?: Readonly<Record<string, unknown>>; readonly tables?: unknown };
  try {
    found = JSON.parse(withoutMark(text)) as typeof found;
  } catch {
    return "is no JSON";
  }
  const right = JSON.parse(wanted) as Required<typeof found>;
  const [locked, own] = [found?.migrations ?? {}, right.migrations];
  const changed = Object.keys(own).find((name) => locked[name] !== own[name]);
  if (changed !== undefined)
    return Object.hasOwn(locked, changed) ? `has other steps for ${changed} (${ifApplied})` : `lacks ${changed}`;
  const gone = Object.keys(locked).find((name) => !Object.hasOwn(own, name));
  if (gone !== undefined) return `has ${gone}, of which there is no file (${ifApplied})`;
  if (comparable(found?.tables) === comparable(right.tables)) return undefined;
  const place = differenceIn(found?.tables, right.tables);
  return `describes other tables than the migrations lead to${place === undefined ? "" : `: ${place}`}`;
}

type Members = Readonly<Record<string, unknown>>;

/** The first table, or the first column or index in it, that differs. Only the table if just the order of its columns does. */
function differenceIn(found: unknown, right: unknown): string | undefined {
  const table = firstDifferent(found, right);
  if (table === undefined) return undefined;
  const [one, other] = [membersOf(found)[table], membersOf(right)[table]];
  const kind = one === undefined || other === undefined ? undefined : firstDifferent(one, other);
  const name = kind && firstDifferent(membersOf(one)[kind], membersOf(other)[kind]);
  return name === undefined ? table : `${table}.${name}`;
}

function firstDifferent(one: unknown, other: unknown): string | undefined {
  const [found, right] = [membersOf(one), membersOf(other)];
  const textOf = (value: unknown) => (isIndex(value) ? sortedWords(value).join() : comparable(value));
  const isSame = (name: string) => textOf(found[name]) === textOf(right[name]);
  return [...Object.keys(right), ...Object.keys(found)].find((name) => !isSame(name));
}

function membersOf(value: unknown): Members {
  return typeof value === "object" && value !== null ? (value as Members) : {};
}

/** The tables as text, in which the order of an index's parameters does not count: earlier files have another one. */
function comparable(tables: unknown): string | undefined {
  return JSON.stringify(tables, (key, value: unknown) =>
    key === "indexes" && typeof value === "object" && value !== null
      ? Object.entries(value).map(([name, index]) => [name, typeof index === "string" ? sortedWords(index) : index])
      : value,
  );
}

/** Types have such words too, in an order that counts, and none has this one. */
function isIndex(value: unknown): value is string {
  return typeof value === "string" && value.includes(") on ");
}

function sortedWords(index: string): readonly string[] {
  return index.replaceAll("(", ", ").replaceAll(")", ", ").split(", ").toSorted();
}

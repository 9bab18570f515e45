/** Generates `history.d.ts`: the tables after each migration, as the types that `after` uses. Pure. */
import { formatVersion } from "../../migrations/file-name.ts";
import type { SchemaRevision } from "../../run/schema-history.ts";
import { formatType, itemName, type Column } from "../../schema/data-type.ts";
import { writtenMark } from "./application-types.ts";
import { textText } from "../shared/print-source.ts";
import { layOutType, type TypeMember, type TypeSource } from "./print/print-type.ts";

const start = `${writtenMark} The tables after each migration, for after() of lance-migrate.

declare module "lance-migrate" {
`;

/** A table as a migration leaves it; without columns if it is gone. */
interface Form {
  /** The position of the migration, from 1. */
  readonly at: number;
  readonly columns: readonly Column[] | undefined;
}

/**
 * The file grows with the changes: it states what each migration changes, and not all tables (src/schema/typed/history.ts).
 * Branches that change different tables change different lines of it, and both add the same line for the same version.
 */
export function historyTypes(revisions: readonly Pick<SchemaRevision, "version" | "changed">[]): string {
  const versions = [0, ...revisions.map(({ version }) => version)].map(formatVersion);
  const forms = formsOf(revisions);
  const tables = [...forms]
    .toSorted(byName)
    .map(([table, own]) => [table, { lines: formMembers(own, versions) }] as const);
  const interfaceOf = (name: string, lines: readonly TypeMember[]) =>
    `  interface ${name} ${layOutType({ lines }, 2, 0)}\n`;
  const interfaces = [
    interfaceOf("History", versionMembers(versions, forms)),
    interfaceOf("TableNames", nameMembers(versions, forms)),
    interfaceOf("TableHistory", tables),
  ];
  return `${start}${interfaces.join("\n")}}\n\nexport {};\n`;
}

function byName([one]: readonly [string, ...unknown[]], [other]: readonly [string, ...unknown[]]): number {
  return one < other ? -1 : 1;
}

function formsOf(revisions: readonly Pick<SchemaRevision, "changed">[]): ReadonlyMap<string, readonly Form[]> {
  const tables = new Map<string, Form[]>();
  for (const [index, { changed }] of revisions.entries())
    for (const [table, after] of changed) {
      const forms = tables.get(table) ?? [];
      if (sameShapes(forms.at(-1)?.columns, after?.columns)) continue;
      forms.push({ at: index + 1, columns: after?.columns });
      tables.set(table, forms);
    }
  return tables;
}

const block = 16;

/**
 * The earlier item of a series to which the nth one refers: the one before it, or for every 16th one far before, so that
 * no chain has more than a few dozen items. TypeScript can't follow longer ones.
 */
function earlierThan(n: number): number {
  return n % block === 0 ? n & (n - 1) : n - 1;
}

/** Each version with the one to which it refers. */
function versionMembers(
  versions: readonly string[],
  forms: ReadonlyMap<string, readonly Form[]>,
): readonly TypeMember[] {
  const changedAt = versions.map((): string[] => []);
  for (const [table, own] of forms) for (const { at } of own) changedAt[at]!.push(table);
  return versions.map((version, at): TypeMember => {
    if (at === 0) return [version, "null"];
    // The last one refers to the one before it, so that two branches that add it add the same line.
    const earlier = at === versions.length - 1 ? at - 1 : earlierThan(at);
    const name = textText(versions[earlier]!);
    if (earlier === at - 1) return [version, name];
    const latest = new Map<string, TypeSource>();
    for (let one = earlier + 1; one <= at; one++)
      for (const table of changedAt[one]!) latest.set(table, textText(versions[one]!));
    return [version, { tuple: [name, { members: [...latest].toSorted(byName) }] }];
  });
}

/** The versions that create or drop tables. */
function nameMembers(versions: readonly string[], tables: ReadonlyMap<string, readonly Form[]>): readonly TypeMember[] {
  const changed = new Map<number, TypeMember[]>();
  for (const [table, forms] of tables)
    for (const [index, { at, columns }] of forms.entries()) {
      if (columns !== undefined && forms[index - 1]?.columns !== undefined) continue;
      changed.set(at, [...(changed.get(at) ?? []), [table, columns === undefined ? "null" : "true"]]);
    }
  const sorted = [...changed].toSorted(([one], [other]) => one - other);
  return sorted.map(([at, names]): TypeMember => [versions[at]!, { members: names.toSorted(byName) }]);
}

function formMembers(forms: readonly Form[], versions: readonly string[]): readonly TypeMember[] {
  return forms.map(({ at, columns }, index): TypeMember => {
    const version = versions[at]!;
    if (columns === undefined) return [version, "null"];
    const earlier = index === 0 ? undefined : forms[earlierThan(index)];
    if (earlier?.columns === undefined) return [version, { lines: columns.map(memberOf) }];
    const changed = changes(earlier.columns, columns);
    return [version, { tuple: [textText(versions[earlier.at]!), { members: changed }] }];
  });
}

/** The columns that differ, and null for those that are gone. */
function changes(before: readonly Column[], after: readonly Column[]): readonly TypeMember[] {
  const old = new Map(before.map((column) => [column.name, column]));
  const names = new Set(after.map(({ name }) => name));
  const gone = before.filter(({ name }) => !names.has(name)).map(({ name }): TypeMember => [name, "null"]);
  return [...gone, ...after.filter((column) => !sameShape(old.get(column.name), column)).map(memberOf)];
}

function sameShapes(before: readonly Column[] | undefined, after: readonly Column[] | undefined): boolean {
  if (before === undefined || after === undefined) return before === after;
  return before === after || changes(before, after).length === 0;
}

function sameShape(one: Column | undefined, other: Column): boolean {
  if (one === undefined || one === other) return one === other;
  const [text, otherText] = [one, other].map((column) => layOutType(shapeSource(column), 0, 0));
  return text === otherText;
}

function memberOf(column: Column): TypeMember {
  return [column.name, shapeSource(column)];
}

/** A column as a shape (src/schema/typed/shape.ts). */
export function shapeSource({ type, nullable }: Pick<Column, "type" | "nullable">): TypeSource {
  const named = (name: string) => textText(nullable ? name : `${name} not null`);
  switch (type.kind) {
    case "struct":
      return { tuple: [named("struct"), { members: type.fields.map(memberOf) }] };
    case "list":
    case "largeList":
      // Paths in the types can't lead into a list whose item has another name.
      return type.item.name === itemName ? { tuple: [named(type.kind), shapeSource(type.item)] } : "unknown";
    case "fixedSizeList":
      return { tuple: [named(`fixedSizeList(${type.length})`), shapeSource(type.item)] };
    default:
      return named(formatType(type));
  }
}

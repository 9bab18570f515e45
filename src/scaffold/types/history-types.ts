/** Generates `history.d.ts`: the tables after each migration, as the types that `after` uses. Pure. */
import { formatVersion } from "../../migrations/file-name.ts";
import type { SchemaRevision } from "../../run/schema-history.ts";
import { formatType, itemName, type Column } from "../../schema/data-type.ts";
import type { Table } from "../../schema/table.ts";
import { writtenMark } from "./application-types.ts";
import { namer } from "../print/type-names.ts";
import { textText } from "../print/print-source.ts";
import { layOutType, type TypeSource } from "../print/print-type.ts";

const start = `${writtenMark} The tables after each migration, for after() of lance-migrate.

declare module "lance-migrate" {
  interface History {
`;

/** A table is written again only for a migration that changes it, so that a diff of the file shows what has changed. */
export function historyTypes(revisions: readonly SchemaRevision[]): string {
  const nameOf = namer();
  const names = new Map<string, string>();
  const known = new Map<string, { readonly name: string; readonly text: string }>();
  const interfaces: string[] = [];
  const versions = [{ version: 0, database: new Map<string, Table>() }, ...revisions].map(({ version, database }) => {
    const members = [...database].toSorted(byName).map(([table, shape]) => {
      const text = layOutType(tableSource(shape), 0, 0);
      const old = known.get(table);
      if (old?.text === text) return [table, old.name] as const;
      if (!names.has(table)) names.set(table, nameOf(table));
      const name = `${names.get(table)!}_${formatVersion(version)}`;
      known.set(table, { name, text });
      interfaces.push(`interface ${name} ${text}\n`);
      return [table, name] as const;
    });
    const key = `    ${JSON.stringify(formatVersion(version))}: `;
    return `${key}${layOutType({ members }, 4, key.length)};\n`;
  });
  return `${start}${versions.join("")}  }\n}\n\n${interfaces.map((text) => `${text}\n`).join("")}export {};\n`;
}

function byName([one]: readonly [string, Table], [other]: readonly [string, Table]): number {
  return one < other ? -1 : 1;
}

function tableSource({ columns }: Table): TypeSource {
  return { lines: [["columns", { lines: membersOf(columns) }]] };
}

function membersOf(columns: readonly Column[]) {
  return columns.map((column) => [column.name, shapeSource(column)] as const);
}

/** A column as a shape (src/schema/typed/shape.ts). */
export function shapeSource({ type, nullable }: Pick<Column, "type" | "nullable">): TypeSource {
  const named = (name: string) => textText(nullable ? name : `${name} not null`);
  switch (type.kind) {
    case "struct":
      return { tuple: [named("struct"), { members: membersOf(type.fields) }] };
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

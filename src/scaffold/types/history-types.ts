/** Generates `history.d.ts`: the tables after each migration, as the types that `after` uses. Pure. */
import { formatVersion } from "../../migrations/file-name.ts";
import type { SchemaRevision } from "../../run/schema-history.ts";
import { shapesOf, type Shape, type Shapes } from "../../schema/text/type-shape.ts";
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
  return { lines: [["columns", { lines: membersOf(shapesOf(columns)) }]] };
}

function membersOf(shapes: Shapes) {
  return [...shapes].map(([name, shape]) => [name, shapeSource(shape)] as const);
}

function shapeSource(shape: Shape): TypeSource {
  if (shape === undefined) return "unknown";
  if (typeof shape === "string") return textText(shape);
  const [head, inside] = shape;
  const inner = inside instanceof Map ? { members: membersOf(inside) } : shapeSource(inside as Shape);
  return { tuple: [textText(head), inner] };
}

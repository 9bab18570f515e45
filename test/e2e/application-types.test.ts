/** Row types and Arrow schemas of `migrate types`, against what @lancedb/lancedb gives and takes. */
import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { createRequire } from "node:module";
import { expect, test } from "vitest";
import * as m from "lance-migrate";
import { formatColumn, type Column } from "../../src/schema/data-type.ts";
import { typeSource } from "../../src/schema/text/typescript-source.ts";
import { layOut } from "../../src/features/shared/print-source.ts";
import { drawnRows } from "../support/drawn-rows.ts";
import { readColumns } from "../../src/engine/engine.ts";
import { aProject, root, type Project } from "../support/project.ts";
import { lancedb } from "../support/tables.ts";
import { strictConfig, typeProblems } from "../support/type-check.ts";

const arrow = createRequire(import.meta.url)("apache-arrow") as typeof import("apache-arrow");

/** What a value is when the program runs: what its type in TypeScript says. */
const kinds: Readonly<Record<string, (value: unknown) => boolean>> = {
  number: (value) => typeof value === "number",
  bigint: (value) => typeof value === "bigint",
  string: (value) => typeof value === "string",
  boolean: (value) => typeof value === "boolean",
  null: (value) => value === null,
  Uint8Array: (value) => value instanceof Uint8Array,
  Uint32Array: (value) => value instanceof Uint32Array,
  BlobPlace: (value) => value instanceof arrow.StructRow && typeof value.toJSON()["position"] === "bigint",
  Vector: (value) => value instanceof arrow.Vector,
  Struct: (value) => value instanceof arrow.StructRow,
};

/** Types, what a value of each is, and what the item of a list is. */
const types: readonly (readonly [type: m.ColumnType, kind: string, item?: string])[] = [
  ...[m.int8(), m.int16(), m.int32(), m.uint8(), m.uint16(), m.uint32()].map((type) => [type, "number"] as const),
  ...[m.float16(), m.float32(), m.float64(), m.date32(), m.date64()].map((type) => [type, "number"] as const),
  ...[m.time32("s"), m.time32("ms")].map((type) => [type, "number"] as const),
  ...(["s", "ms", "us", "ns"] as const).flatMap((unit) => [
    [m.timestamp(unit), "number"] as const,
    [m.timestamp(unit, "UTC"), "number"] as const,
    [m.duration(unit), "bigint"] as const,
  ]),
  ...[m.int64(), m.uint64(), m.time64("us"), m.time64("ns")].map((type) => [type, "bigint"] as const),
  [m.bool(), "boolean"],
  [m.utf8(), "string"],
  [m.largeUtf8(), "string"],
  [m.binary(), "Uint8Array"],
  [m.largeBinary(), "Uint8Array"],
  [m.fixedSizeBinary(4), "Uint8Array"],
  [m.decimal128(10, 2), "Uint32Array"],
  [m.nullType(), "null"],
  [m.json(), "string"],
  [m.blob(), "BlobPlace"],
  [m.dictionary(m.int32(), m.utf8()), "string"],
  [m.dictionary(m.int8(), m.int64()), "bigint"],
  [m.vector(4), "Vector", "number"],
  [m.vector(4, m.float16()), "Vector", "number"],
  [m.fixedSizeList(m.bool(), 4), "Vector", "boolean"],
  [m.fixedSizeList(m.vector(2), 2), "Vector", "Vector"],
  [m.list(m.int64()), "Vector", "bigint"],
  [m.list(m.utf8()), "Vector", "string"],
  [m.list(m.timestamp("us")), "Vector", "number"],
  [m.list(m.decimal128(10, 2)), "Vector", "Uint32Array"],
  [m.list(m.dictionary(m.int32(), m.utf8())), "Vector", "string"],
  [m.list(m.list(m.int8())), "Vector", "Vector"],
  [m.list(m.struct({ text: m.utf8(), at: m.list(m.int32()) })), "Vector", "Struct"],
  [m.struct({ url: m.utf8(), size: m.int64(), more: m.struct({ x: m.list(m.utf8()) }) }), "Struct"],
];

const columnOf = (type: m.ColumnType): readonly Column[] => [
  { name: "id", type: { kind: "int32" }, nullable: false },
  { name: "x", type: type.type, nullable: type.nullable },
];

const call = (type: m.ColumnType) => layOut(typeSource(type.type), { indent: 0, used: 0, tail: 0, prefix: "m." });

/** The files that an application has, with the packages that it has. */
function anApplication(migration: string): Project {
  const project = aProject();
  for (const name of ["@lancedb", "@standard-schema"])
    symlinkSync(join(root, "node_modules", name), join(project.folder, "node_modules", name));
  project.write(
    "tsconfig.json",
    strictConfig
      .replace(`"declaration":true`, `"declaration":true,"isolatedDeclarations":true`)
      .replace("**/*.ts", "src/*.ts"),
  );
  project.write("migrate.config.ts", "export default { standardSchema: true };\n");
  project.migration("0001_start.ts", migration);
  return project;
}

/** Rows as an application finds them, by the names of the tables. */
async function tablesOf(project: Project): Promise<readonly (readonly Record<string, unknown>[])[]> {
  const db = await lancedb.connect(project.database);
  return await Promise.all(types.map(async (_, at) => await (await db.openTable(`t${at}`)).query().toArray()));
}

test("a row of every type is in TypeScript what it is when the program runs", async () => {
  const project = anApplication(
    types.map(([type], at) => `m.createTable("t${at}", { id: m.int32().notNull(), x: ${call(type)} }),`).join("\n"),
  );
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["types", "--out", "src/db.ts"])).toMatchObject({ code: 0 });
  const db = await lancedb.connect(project.database);
  for (const [at, [type]] of types.entries()) {
    const x = { json: "[1]", blob: Buffer.from("bytes") }[type.type.kind as string];
    const rows = x === undefined ? arrow.tableFromIPC(drawnRows(columnOf(type), 8)) : [{ id: 1, x }];
    await (await db.openTable(`t${at}`)).add(rows).catch(() => undefined);
  }
  // When it runs.
  const found = await tablesOf(project);
  for (const [at, [type, kind, item]] of types.entries()) {
    const name = formatColumn(columnOf(type)[1]!);
    const values = found[at]!.map(({ x }) => x);
    const known = values.filter((value) => value !== null);
    const nullable = kind === "null" ? values : known;
    expect(nullable.map(kinds[kind]!), name).toEqual(nullable.map(() => true));
    if (item === undefined) continue;
    const items = known.flatMap((value) => [...(value as Iterable<unknown>)]);
    expect(items.map(kinds[item]!), name).toEqual(items.map(() => true));
  }
  const empty = types.filter((_, at) => found[at]!.every(({ x }) => x === null));
  expect(empty.map(([type]) => formatColumn(columnOf(type)[1]!))).toEqual(["x null"]);
  // And in TypeScript.
  const claims = types.map(([, kind, item], at) => {
    const row = `Tables["t${at}"]`;
    if (kind === "Struct") return `right<Has<${row}, { url: string | null; size: bigint | null; more: unknown }>>();`;
    const value = kind === "null" ? "null" : `NonNullable<${row}["x"]>`;
    if (item === undefined) return `right<Is<${value}, ${kind}>>();`;
    const own = `${value} extends Vector<infer Item> ? Item : never`;
    const wanted =
      item === "Struct" ? "{ text: string | null; at: unknown }" : item === "Vector" ? "Vector<unknown>" : item;
    return `right<Has<${own}, ${wanted}>>();`;
  });
  project.write(
    "src/claims.ts",
    `import type { Table } from "@lancedb/lancedb";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { t0Input, type T0Input, type BlobPlace, type Tables, type Vector } from "./db.ts";
export const standard: StandardSchemaV1<T0Input, T0Input> = t0Input;
export async function added(table: Table, row: T0Input): Promise<void> {
  const result = t0Input["~standard"].validate(row);
  if (result.issues === undefined) await table.add([result.value]);
}
type Is<One, Other> = [One] extends [Other] ? ([Other] extends [One] ? true : [One]) : [One];
type Has<One, Other> = [One] extends [Other] ? true : [One];
const right = <Claim extends true>(claim?: Claim): void => void claim;
export const used: Vector<string> | undefined = undefined;
right<Is<StandardSchemaV1.InferInput<typeof t0Input>["x"], number | null | undefined>>();
${types.map(([, kind], at) => (kind === "BlobPlace" ? "" : `right<Has<Tables["t${at}"], import("./db.ts").T${at}Input>>();`)).join("\n")}
${claims.join("\n").replace(/Has<Tables\["t(\d+)"\], \{/g, 'Has<NonNullable<Tables["t$1"]["x"]>, {')}
`,
  );
  expect(typeProblems(project.folder, ["--allowImportingTsExtensions"])).toEqual([]);
});

test("a dictionary whose keys have 64 bits can't be read, and its type says so", async () => {
  const type = m.dictionary(m.int64(), m.utf8());
  const project = anApplication(`m.createTable("t", { id: m.int32().notNull(), x: ${call(type)} }),`);
  await project.migrate(["up"]);
  await project.migrate(["types", "--out", "src/db.ts"]);
  expect(readFileSync(join(project.folder, "src/db.ts"), "utf8")).toContain("\n  x: never;\n");
  const table = await (await lancedb.connect(project.database)).openTable("t");
  await table.add(arrow.tableFromIPC(drawnRows(columnOf(type), 8)));
  const [row] = (await table.query().toArray()) as readonly { readonly x: unknown }[];
  expect(() => row!.x).toThrow("BigInt");
});

test("a schema makes just the table that up makes", async () => {
  const project = anApplication(
    types.map(([type], at) => `m.createTable("t${at}", { id: m.int32().notNull(), x: ${call(type)} }),`).join("\n"),
  );
  await project.migrate(["up"]);
  await project.migrate(["types", "--out", "src/db.mts"]);
  const schemas = (await import(join(project.folder, "src/db.mts"))) as Record<string, never>;
  const db = await lancedb.connect(project.database);
  const other = await lancedb.connect(join(project.folder, "other"));
  const refused: string[] = [];
  for (const [at, [type]] of types.entries()) {
    const wanted = await readColumns(await db.openTable(`t${at}`));
    const made = await other.createEmptyTable(`t${at}`, schemas[`t${at}Schema`]!).catch((error: Error) => error);
    if (made instanceof Error) refused.push(`${formatColumn(columnOf(type)[1]!)}: ${made.message}`);
    else expect(await readColumns(made)).toEqual(wanted);
  }
  // What its JavaScript client does not know.
  expect(refused).toEqual([
    expect.stringMatching(/^x largeUtf8: .*Unrecognized type id/),
    expect.stringMatching(/^x largeBinary: .*Unrecognized type id/),
    expect.stringMatching(/^x blob: .*Unrecognized type id/),
  ]);
});

/** docs/reference/contract.schema.json accepts and refuses what the reader does, except what is inside types and paths. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { problemIn } from "../../../../../src/errors/migrate-error.ts";
import { parseContract } from "../../../../../src/features/contracts/check/contract.ts";
import { writeContract } from "../../../../../src/features/contracts/write-contract.ts";
import type { Column } from "../../../../../src/schema/data-type.ts";
import { root } from "../../../../support/project.ts";

const text = readFileSync(join(root, "docs/reference/contract.schema.json"), "utf8");
const schema = z.fromJSONSchema(JSON.parse(text) as Parameters<typeof z.fromJSONSchema>[0]);
const reads = { id: "int64 not null", "source.url": "any" };
const tables = { documents: { reads, writes: reads, appends: true } };
const whole = { format: 1, application: "search", release: "1.4.0", tables };
const withTable = (table: unknown) => ({ ...whole, tables: { documents: table } });

const columns: readonly Column[] = [
  { name: "id", type: { kind: "int64" }, nullable: false },
  {
    name: "a b",
    type: { kind: "list", item: { name: "item", type: { kind: "utf8" }, nullable: true } },
    nullable: true,
  },
];
const named = { application: "search", release: "1", migrations: "0001_documents" };
const generated = writeContract(named, new Map([["documents", { columns }]])).document;

test.each<[boolean, unknown]>([
  [true, generated],
  [true, whole],
  [true, { $schema: "../contract.schema.json", ...whole, migrations: "0001_documents" }],
  [true, { ...whole, tables: {} }],
  [true, withTable({})],
  [true, withTable({ reads: {}, appends: false })],
  [false, null],
  [false, []],
  [false, { ...whole, $schema: 1 }],
  [false, { ...whole, format: 2 }],
  [false, { ...whole, format: undefined }],
  [false, { ...whole, application: "" }],
  [false, { ...whole, release: 1 }],
  [false, { ...whole, release: undefined }],
  [false, { ...whole, migrations: 1 }],
  [false, { ...whole, tables: undefined }],
  [false, { ...whole, tables: [] }],
  [false, { ...whole, table: {} }],
  [false, withTable([])],
  [false, withTable({ read: {} })],
  [false, withTable({ reads: ["id"] })],
  [false, withTable({ reads: { id: "" } })],
  [false, withTable({ writes: { id: 1 } })],
  [false, withTable({ writes: {}, appends: "yes" })],
])("%s for the schema and for the reader: %j", (isValid, value) => {
  // As a file has it: without what is undefined.
  const read: unknown = JSON.parse(JSON.stringify(value));
  expect([schema.safeParse(read).success, problemIn(() => parseContract(read, "a.json")) === undefined]).toEqual([
    isValid,
    isValid,
  ]);
});

test("an update keeps the path of the schema", () => {
  const before = { $schema: "../contract.schema.json", ...generated };
  const { document } = writeContract(
    { ...named, $schema: before.$schema },
    new Map([["documents", { columns }]]),
    before,
  );
  expect(document).toEqual(before);
});

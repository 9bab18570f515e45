import { expect, test } from "vitest";
import { knownMetadata, withMetadataOf, withoutMetadata } from "../../../src/schema/metadata.ts";
import { withoutEngines } from "../../../src/schema/reserved-metadata.ts";
import type { Column } from "../../../src/schema/data-type.ts";

const x: Column = { name: "x", type: { kind: "int8" }, nullable: true, metadata: { unit: "EUR" } };
const item: Column = { name: "item", type: { kind: "struct", fields: [x] }, nullable: true };
const list: Column = { name: "l", type: { kind: "list", item }, nullable: false, metadata: { of: "x", old: null } };

test("metadata is found at any depth; a key that is known to be gone is none", () => {
  expect(knownMetadata([list, { ...x, name: "y", metadata: { old: null } }])).toEqual([
    ["l", { of: "x" }],
    ["l.item.x", { unit: "EUR" }],
  ]);
});

test("without metadata a column is the same at any depth", () => {
  const bare = { ...x, metadata: undefined };
  const type = { kind: "list", item: { ...item, type: { kind: "struct", fields: [bare] } } };
  expect(withoutMetadata(list)).toEqual({ name: "l", type, nullable: false });
});

test("what takes a column's place has its metadata, as far as there are the same names inside", () => {
  const wide = { ...x, type: { kind: "int64" }, metadata: undefined } as const;
  const type = {
    kind: "largeList",
    item: { ...item, type: { kind: "struct", fields: [wide, { ...wide, name: "y" }] } },
  } as const;
  expect(knownMetadata([withMetadataOf(list, { name: "l", type, nullable: true })])).toEqual([
    ["l", { of: "x" }],
    ["l.item.x", { unit: "EUR" }],
  ]);
  expect(knownMetadata([withMetadataOf(list, { name: "l", type: { kind: "int8" }, nullable: true })])).toEqual([
    ["l", { of: "x" }],
  ]);
});

test("the parameters of an extension are set again only with its name", () => {
  const parameters = { "ARROW:extension:metadata": "{}", owner: "search" };
  expect(withoutEngines({ "ARROW:extension:name": "lance.bfloat16", ...parameters })).toEqual({ owner: "search" });
  const own = { "ARROW:extension:name": "acme.colour", ...parameters };
  expect(withoutEngines(own)).toEqual(own);
});

test("the name of an extension stays with its type", () => {
  const metadata = { "ARROW:extension:name": "arrow.uuid", "ARROW:extension:metadata": "", owner: "search" };
  const was: Column = { name: "id", type: { kind: "fixedSizeBinary", length: 16 }, nullable: true, metadata };
  const text: Column = { name: "id", type: { kind: "utf8" }, nullable: true };
  expect(withMetadataOf(was, text).metadata).toEqual({ owner: "search" });
  expect(withMetadataOf(was, { ...was, name: "other", metadata: undefined }).metadata).toEqual(metadata);
});

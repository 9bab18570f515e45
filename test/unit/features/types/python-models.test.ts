/** The Python that `migrate types` writes; test/e2e/python-models.test.ts runs it with the real client. */
import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import type { Column, DataType } from "../../../../src/schema/data-type.ts";
import type { Database } from "../../../../src/schema/table.ts";
import { pythonModels } from "../../../../src/features/types/python-models.ts";
import { anyColumns } from "../../../support/drawn-tables.ts";
import * as fc from "../../../support/fast-check.ts";

const column = (name: string, type: DataType, nullable = true): Column => ({ name, type, nullable });

test("a table is a schema and a model, with a model for each struct", () => {
  const columns: readonly Column[] = [
    column("id", { kind: "int64" }, false),
    column("day", { kind: "date32" }),
    column("source", { kind: "struct", fields: [column("url", { kind: "utf8" })] }),
    column("embedding", { kind: "fixedSizeList", item: column("item", { kind: "float32" }), length: 8 }),
  ];
  expect(pythonModels(new Map([["my_notes", { columns }]])))
    .toBe(`# Written by migrate types; do not edit. Models and schemas of the tables after the last migration.

import datetime
from typing import Optional

import pyarrow as pa
from lancedb.pydantic import LanceModel, Vector


my_notes_schema = pa.schema(
    [
        pa.field("id", pa.int64(), nullable=False),
        pa.field("day", pa.date32()),
        pa.field("source", pa.struct([pa.field("url", pa.string())])),
        pa.field("embedding", pa.list_(pa.float32(), 8)),
    ]
)


class MyNotesSource(LanceModel):
    """Of MyNotes."""

    url: Optional[str] = None


class MyNotes(LanceModel):
    """A row of my_notes."""

    id: int
    day: Optional[datetime.date] = None
    source: Optional[MyNotesSource] = None
    embedding: Optional[Vector(8)] = None

    @classmethod
    def to_arrow_schema(cls) -> pa.Schema:
        return my_notes_schema
`);
});

test("a column that can't be a field leaves its table a schema only, and the file says why", () => {
  const textOf = (name: string, ...more: readonly Column[]) =>
    pythonModels(new Map([["t", { columns: [column(name, { kind: "utf8" }), ...more] }]]));
  expect(textOf("a b")).toContain(
    `# t has no model: "a b" can't be the name of a field, because it is not a public name of Python.\nt_schema = `,
  );
  expect(textOf("_id")).toContain("not a public name");
  expect(textOf("ﬁle")).toContain(`"\\U0000fb01le" can't be`);
  expect(textOf("lambda")).toContain("it is a keyword of Python");
  expect(textOf("json")).toContain("LanceModel has an attribute of that name");
  expect(textOf("str")).toContain("it would hide what the types of other fields need");
  expect(textOf("bytes")).not.toContain("no model");
  expect(textOf("bytes", column("x", { kind: "binary" }))).toContain("no model");
  const unknown: DataType = { kind: "unknown", name: "map" };
  expect(textOf("id", column("x", unknown))).toContain("# t is left out: it has a column of a type");
});

const tableNames = ["documents", "my_notes", "my-notes", "none", "2024.logs", "LanceModel", "a", "__proto__"];
const oddNames = [
  "class",
  "x y",
  'say "so"',
  "名前",
  "int",
  "list",
  "datetime",
  "pa",
  "Optional",
  "A",
  "Vector",
  "None",
];

const databases: fc.Arbitrary<Database> = fc
  .uniqueArray(
    fc.tuple(
      fc.constantFrom(...tableNames),
      anyColumns,
      fc.uniqueArray(fc.constantFrom(...oddNames), { maxLength: 2 }),
    ),
    { selector: ([name]) => name, maxLength: 5 },
  )
  .map(
    (tables) =>
      new Map(
        tables.map(([name, columns, odd]) => {
          const more = odd.map((one, at): Column => ({ ...columns[at % columns.length]!, name: one }));
          return [name, { columns: [...columns.filter((own) => !odd.includes(own.name)), ...more] }];
        }),
      ),
  );

/** Runs each text, with stand-ins for the packages, which not every machine has. */
const run = `
import json, sys, types
from unittest.mock import MagicMock
sys.modules["pyarrow"] = MagicMock()
sys.modules["lancedb"] = MagicMock()
sys.modules["lancedb.pydantic"] = types.SimpleNamespace(LanceModel=type("LanceModel", (), {}), Vector=MagicMock())
for at, text in enumerate(json.load(sys.stdin)):
    exec(compile(text, str(at), "exec"), {"__name__": "models"})
`;

test("the files of 100 drawn databases are Python that runs", () => {
  const texts = fc.sample(databases, { numRuns: 100, seed: 5 }).map(pythonModels);
  expect(texts.filter((text) => text.includes("(LanceModel)")).length).toBeGreaterThan(20);
  execFileSync("python3", ["-c", run], { input: JSON.stringify(texts), stdio: ["pipe", "ignore", "pipe"] });
});

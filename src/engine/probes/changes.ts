/** What is assumed of changes of columns and rows. */
import type { Alteration } from "../../actions/model/alteration.ts";
import { withWholeStructs } from "../../actions/rewrite/retype-whole-structs.ts";
import { sameColumns, type Column } from "../../schema/data-type.ts";
import { dropColumns } from "../checked-writes.ts";
import { alterColumns, nativeTable, type EngineTable } from "../engine.ts";
import { isConflict } from "../problem/engine-problem.ts";
import { addNullColumns, mergeRows, updateRows } from "../write-rows.ts";
import { append, errorOf, id, ipcFile, text, type Probe } from "./probe.ts";

export const columnChanges: Probe = {
  name: "column changes",
  assumes: "each change of columns makes one version, with the columns that the plan computes",
  otherwise: "an interrupted run could not find out how far it got",
  async holds({ create, columns, count }) {
    const table = await create([id, text, { ...text, name: "gone" }], [{ id: 1, text: "a", gone: "b" }]);
    const added: Column = { name: "added", type: { kind: "float32" }, nullable: true };
    const versions = [
      await alterColumns(table, [{ path: "id", type: { kind: "int32" } }]),
      await alterColumns(table, [{ path: "text", rename: "title", nullable: false }]),
      await addNullColumns(table, await ipcFile([added], [])),
      await dropColumns(table, ["gone"]),
      (await table.updateFieldMetadata([{ path: "title", metadata: { unit: "word" } }])).version,
    ];
    const expected: readonly Column[] = [
      { ...id, type: { kind: "int32" } },
      { ...text, name: "title", nullable: false, metadata: { unit: "word" } },
      added,
    ];
    const isRight = versions.join() === "2,3,4,5,6" && sameColumns(expected, await columns());
    return isRight && (await count("id = 1 and title = 'a' and added is null")) === 1;
  },
};

/** Whether it is refused without a trace. */
async function isRefused(table: EngineTable, alteration: Alteration): Promise<boolean> {
  const before = await table.version();
  const error = await errorOf(alterColumns(table, [alteration]));
  await table.checkoutLatest();
  return error !== undefined && !isConflict(error) && (await table.version()) === before;
}

export const refusedCasts: Probe = {
  name: "refused casts",
  assumes: "a cast is refused as a whole if one value does not fit, and so is not null if there is a null",
  otherwise: "a retype would silently change values",
  async holds({ create, count }) {
    const rows = [
      { id: 1, text: "a" },
      { id: 300, text: null },
    ];
    const table = await create([id, text], rows);
    return (
      (await isRefused(table, { path: "id", type: { kind: "int8" } })) &&
      (await isRefused(table, { path: "text", nullable: false })) &&
      (await count("id = 300 and text is null")) === 1
    );
  },
};

const x: Column = { name: "x", type: { kind: "int32" }, nullable: true };
const struct: Column = { name: "s", type: { kind: "struct", fields: [x, { ...text, name: "y" }] }, nullable: true };

export const nullStructs: Probe = {
  name: "null structs",
  assumes: "a struct that is null stays null when its row is written again",
  otherwise: "updates and merges would silently change rows",
  async holds({ create, count }) {
    const table = await create(
      [id, text, struct],
      [
        { id: 1, text: "a", s: null },
        { id: 2, text: "b", s: { x: 1, y: "c" } },
      ],
    );
    await updateRows(table, [["text", "'new'"]], "id = 1");
    return (await count("s is null and text = 'new'")) === 1 && (await count("s is not null and s.x = 1")) === 1;
  },
};

export const structFields: Probe = {
  name: "fields of structs",
  assumes: "rows can be found, changed and retyped after one field of a struct was retyped",
  otherwise: "a table could not be used after a field was retyped",
  refuses: (action) =>
    action.kind === "addField" ||
    (action.kind === "alterColumns" &&
      action.alterations.some(({ path, type }) => type !== undefined && path.includes("."))),
  async holds({ create, columns, count, open }) {
    await create(
      [id, struct],
      [
        { id: 1, s: { x: 1, y: "a" } },
        { id: 2, s: { x: 2, y: "b" } },
      ],
    );
    for (const kind of ["int64", "int32"] as const) {
      const table = await open();
      await alterColumns(table, withWholeStructs(await columns(), [{ path: "s.x", type: { kind } }]));
      await updateRows(await open(), [["id", "id"]], "id = 2");
    }
    return (await count("id = 2 and s.x = 2")) === 1 && (await count("s.y = 'a'")) === 1;
  },
};

export const computedColumns: Probe = {
  name: "computed columns",
  assumes: "a column can be computed from others, and refreshed",
  otherwise: "the column would never get values",
  refuses: (action) =>
    action.kind === "refreshColumn" ||
    (action.kind === "addColumns" && action.columns.some(({ computed }) => computed !== undefined)),
  async holds({ create, count }) {
    const table = await create([id], [{ id: 2 }]);
    await nativeTable(table).addComputedColumns([{ name: "twice", valueSql: "id * 2" }]);
    await table.refreshColumn("twice");
    return (await count("twice = 4")) === 1;
  },
};

export const lastValues: Probe = {
  name: "last values",
  assumes: "a drop after which some rows can't be read is noticed and undone, or leaves them readable",
  otherwise: "dropping a column would leave a table that can't be read",
  async holds({ create, count }) {
    const table = await create([text], [{ text: "a" }]);
    await addNullColumns(table, await ipcFile([id], []));
    await errorOf(dropColumns(table, ["text"]));
    return (await count()) === 1;
  },
};

export const expressions: Probe = {
  name: "expressions",
  assumes: "the functions of SQL exist with which lance-migrate casts and compares values",
  otherwise: "plans could not count the rows that block a change",
  async holds({ create, count }) {
    await create([id, text], [{ id: 1, text: "a" }]);
    const found = await count(
      "arrow_try_cast(text, 'Int64') is null and arrow_cast(id, 'Utf8') = '1' and md5(text) is not null and coalesce(text, '') = 'a'",
    );
    return found === 1;
  },
};

export const conditionalMerge: Probe = {
  name: "conditional merge",
  assumes: "a merge changes only rows at the addresses that its condition names",
  otherwise: "computed values could replace what an application has written since",
  refuses: ({ kind }) => ["backfillColumn", "catchUpColumn", "fillColumn", "prepareColumn"].includes(kind),
  async holds({ create, count, open }) {
    const table = await create([id, text], [{ id: 1, text: null }]);
    await append(table, [id, text], [{ id: 2, text: null }]);
    const file = await ipcFile(
      [id, text],
      [
        { id: 1, text: "a" },
        { id: 2, text: "a" },
      ],
    );
    await mergeRows(await open(), { on: ["id"], update: "target._rowaddr in (0)", useIndex: false }, file);
    return (await count("text = 'a'")) === 1 && (await count("id = 2 and text is null")) === 1;
  },
};

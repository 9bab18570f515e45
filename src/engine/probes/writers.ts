/** What is assumed of writers that work on one table at the same time. A handle sees no commits since it was opened. */
import { alterColumns } from "../engine.ts";
import { isConflict } from "../problem/engine-problem.ts";
import { addNullColumns, mergeRows } from "../write-rows.ts";
import { append, errorOf, id, ipcFile, text, type Probe } from "./probe.ts";

export const oneInsert: Probe = {
  name: "one insert",
  assumes: "of several merges that insert one key at the same time, one inserts it",
  otherwise: "two runs could both take the lease, and change the same tables",
  async holds({ create, open, count }) {
    const key = { ...id, nullable: false };
    const table = await create([key, text], []);
    await table.setUnenforcedPrimaryKey(["id"]);
    const handles = await Promise.all(Array.from({ length: 8 }, open));
    const late = await open();
    const file = (name: string) => ipcFile([key, text], [{ id: 1, text: name }]);
    const insert = async (handle: typeof late, name: string) =>
      (await mergeRows(handle, { on: ["id"], insert: true }, await file(name))).numInsertedRows;
    const answers = await Promise.all(handles.map((handle, index) => insert(handle, `racer ${index}`)));
    return (await insert(late, "late")) === 0 && answers.toSorted().join("") === "00000001" && (await count()) === 1;
  },
};

export const fence: Probe = {
  name: "fence",
  assumes: "a handle can't alter a table whose columns others have altered since, and the error states a conflict",
  otherwise: "a run that was suspended could undo what the next one did",
  async holds({ create, open, columns }) {
    const table = await create([id, text], [{ id: 1, text: "a" }]);
    const [rename, retype, add] = [await open(), await open(), await open()];
    await alterColumns(table, [{ path: "text", rename: "title" }]);
    const errors = [
      await errorOf(alterColumns(rename, [{ path: "text", rename: "name" }])),
      await errorOf(alterColumns(retype, [{ path: "text", type: { kind: "largeUtf8" } }])),
      await errorOf(addNullColumns(add, await ipcFile([{ ...text, name: "more" }], []))),
    ];
    const names = (await columns()).map(({ name }) => name);
    return errors.every(isConflict) && names.join() === "id,title";
  },
};

export const lateAppend: Probe = {
  name: "late append",
  assumes: "rows that are appended by a handle from before a rename keep their values",
  otherwise: "values that applications write during a migration would be lost",
  async holds({ create, open, count }) {
    const table = await create([id, text], [{ id: 1, text: "a" }]);
    const late = await open();
    await alterColumns(table, [{ path: "text", rename: "title" }]);
    await append(late, [id, text], [{ id: 2, text: "b" }]);
    return (await count("id = 2 and title = 'b'")) === 1;
  },
};

export const lateNull: Probe = {
  name: "late null",
  assumes: "a null is not appended to a column that others have made not null since",
  otherwise: "a table to which an application appends could not be read after a column was made not null",
  refuses: (action) => action.kind === "alterColumns" && action.alterations.some(({ nullable }) => nullable === false),
  async holds({ create, open, count }) {
    const table = await create([id, text], [{ id: 1, text: "a" }]);
    const late = await open();
    await alterColumns(table, [{ path: "text", nullable: false }]);
    const error = await errorOf(append(late, [id, text], [{ id: 2, text: null }]));
    return error !== undefined && (await count("text = 'a'")) === 1;
  },
};

/** What is assumed of databases, of their files, and of errors about them. */
import { join } from "node:path";
import { cloneTables } from "../clone-tables.ts";
import { connectNatively, createEmptyTable, nativeTable, openTable, type NativeTable } from "../engine.ts";
import { damagedFile } from "../folder/damaged-file.ts";
import { createIndex } from "../indexes.ts";
import { indexesInManifest } from "../manifest/index-section.ts";
import { tableFormat } from "../manifest/table-format.ts";
import { isEngineError, isTaken } from "../problem/engine-problem.ts";
import { readRowsOf } from "../read-table.ts";
import { versionTime } from "../version-time.ts";
import { append, errorOf, id, text, type Probe } from "./probe.ts";

/** The methods of a native table without which no run works. */
const methods: readonly (keyof NativeTable)[] = [
  ...(["schema", "query", "countRows", "stats", "version", "listVersions", "checkout", "checkoutLatest"] as const),
  ...(["add", "update", "delete", "mergeInsert", "optimize", "restore", "branches"] as const),
  ...(["addColumns", "addColumnsWithSchema", "alterColumns", "dropColumns", "updateFieldMetadata"] as const),
  ...(["createIndex", "dropIndex", "listIndices", "indexStats", "setUnenforcedPrimaryKey"] as const),
];

export const nativeMethods: Probe = {
  name: "native methods",
  assumes: "the package has the methods of its native part that lance-migrate calls",
  otherwise: "some steps would fail half-way",
  async holds({ create }) {
    const table = nativeTable(await create([id], []));
    const missing = methods.filter((name) => typeof table[name] !== "function");
    if (missing.length > 0) throw new Error(`it lacks ${missing.join(", ")}`);
    return true;
  },
};

export const missingTable: Probe = {
  name: "missing table",
  assumes: "the error about a missing table differs from all others",
  otherwise: "a new database would look like one that can't be reached",
  holds: async ({ db, folder }) => (await openTable(db, "t", folder)) === undefined,
};

export const takenName: Probe = {
  name: "taken name",
  assumes: "the error about a name that is taken differs from all others",
  otherwise: "a run would take another's table for a failure of its own",
  async holds({ db }) {
    await createEmptyTable(db, "t", [id]);
    const error = await errorOf(createEmptyTable(db, "t", [id]));
    return isTaken(error) && isEngineError(error);
  },
};

export const movedTable: Probe = {
  name: "moved table",
  assumes: "a table's folder can be renamed before the table is used",
  otherwise: "two runs could both create one table, and the second would overwrite the first",
  async holds({ create, db, count }) {
    await create([id, text], [{ id: 1, text: "a" }]);
    return (await db.tableNames([])).join() === "t" && (await count("id = 1 and text = 'a'")) === 1;
  },
};

export const manifestFiles: Probe = {
  name: "manifest files",
  assumes: "the files of a table have the layout in which lance-migrate reads them",
  otherwise: "whole tables would be reported as damaged, and indexes would be overlooked",
  async holds({ create, folder, open }) {
    const table = await create([id], [{ id: 1 }]);
    await createIndex(table, { column: "id", kind: "btree", name: "by_id", options: {} });
    const place = { folder, table: "t", version: 2 };
    const [, second] = await table.listVersions();
    return (
      damagedFile(folder, undefined) === undefined &&
      tableFormat(folder, "t") !== undefined &&
      indexesInManifest(place)
        ?.map(({ name }) => name)
        .join() === "by_id" &&
      (await versionTime({ folder }, "t", 2, open)) === second?.timestamp.getTime()
    );
  },
};

export const orderedRead: Probe = {
  name: "ordered read",
  assumes: "a query gives the last row by a column",
  otherwise: "a run could overlook the newest record of the ledger",
  async holds({ create }) {
    const table = await create([id, text], [{ id: 2, text: "b" }]);
    await append(table, [id, text], [{ id: 3, text: "c" }]);
    await append(table, [id, text], [{ id: 1, text: "a" }]);
    const rows = await readRowsOf(nativeTable(table), { columns: ["id", "text"], last: ["id"] });
    return JSON.stringify([...rows]) === '[{"id":3,"text":"c"}]';
  },
};

export const clones: Probe = {
  name: "clones",
  assumes: "a shallow clone has the rows of its source, and shares no change with it",
  otherwise: "migrate rehearse could change the tables themselves",
  async holds({ create, folder, count }) {
    await create([id, text], [{ id: 1, text: "a" }]);
    const copy = join(folder, "copy");
    await cloneTables(folder, ["t"], copy);
    const db = await connectNatively({ uri: copy, folder: copy });
    try {
      const clone = await db.openTable("t", []);
      const rows = await clone.countRows("text = 'a'");
      await clone.dropColumns(["text"]);
      return rows === 1 && (await count("text = 'a'")) === 1;
    } finally {
      db.close();
    }
  },
};

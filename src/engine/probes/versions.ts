/** What is assumed of old versions, of clean-ups and of indexes. */
import { alterColumns } from "../engine.ts";
import { createIndex, optimize } from "../indexes.ts";
import { readIndexes } from "../read-indexes.ts";
import { keepVersion, keptVersions, releaseVersion } from "../versions.ts";
import { append, id, text, type Probe } from "./probe.ts";

export const keptVersion: Probe = {
  name: "kept version",
  assumes: "a branch keeps its version while the versions around it are cleaned up, and can be removed again",
  otherwise: "migrate down could not restore what a migration has removed",
  async holds({ create, open }) {
    const table = await create([id, text], [{ id: 1, text: "a" }]);
    await keepVersion(open, 1, "kept");
    await table.dropColumns(["text"]);
    await table.optimize({ cleanupOlderThan: new Date(Date.now() + 86_400_000), deleteUnverified: true });
    const kept = await keptVersions(open);
    const old = await open();
    await old.checkout(1);
    const rows = await old.countRows("text = 'a'");
    await releaseVersion(open, "kept");
    return rows === 1 && kept[0]?.version === 1 && kept.length === 1 && (await keptVersions(open)).length === 0;
  },
};

export const restore: Probe = {
  name: "restore",
  assumes: "an old version can be restored as a new one",
  otherwise: "migrate down could not restore what a migration has removed",
  async holds({ create, open, count }) {
    const table = await create([id, text], [{ id: 1, text: "a" }]);
    await table.dropColumns(["text"]);
    await table.checkout(1);
    await table.restore();
    return (await count("text = 'a'")) === 1 && (await (await open()).version()) === 3;
  },
};

export const compaction: Probe = {
  name: "compaction",
  assumes: "compacting a table keeps all rows and all versions, and makes as many versions as lance-migrate counts",
  otherwise: "versions that a rollback needs would be lost",
  async holds({ create, open, count }) {
    const table = await create([id], [{ id: 1 }]);
    for (const next of [2, 3]) await append(table, [id], [{ id: next }]);
    const { version } = await optimize(table);
    const last = await open();
    return (
      (await last.version()) === version && (await last.listVersions()).length === version && (await count()) === 3
    );
  },
};

export const indexes: Probe = {
  name: "indexes",
  assumes: "an index can be created, replaced and listed with its kind, and is kept by a rename",
  otherwise: "a retype would lose indexes",
  async holds({ create, open, folder }) {
    const table = await create([id, text], [{ id: 1, text: "a" }]);
    const index = { column: "id", name: "by_id", options: {} };
    await createIndex(table, { ...index, kind: "bitmap" });
    await createIndex(table, { ...index, kind: "btree" });
    await alterColumns(await open(), [{ path: "id", rename: "key" }]);
    const found = await readIndexes(await open(), folder);
    return (
      JSON.stringify(Object.entries(found).map(([name, { path, kind }]) => [name, path, kind])) ===
      '[["by_id","key","btree"]]'
    );
  },
};

/**
 * An application beside a run: started as a process with a folder and a table, it appends, deletes, merges files, removes
 * old versions and makes an index, and says on stdout what was acknowledged, until it is told on stdin to end.
 */
import { lancedb } from "../support/tables.ts";

const [, , folder = "", name = ""] = process.argv;
const db = await lancedb.connect(folder, { readConsistencyInterval: 0 });
const told = new AbortController();
process.stdin.on("data", () => told.abort());

const say = (line: unknown) => process.stdout.write(`${JSON.stringify(line)}\n`);

type Work = (table: Awaited<ReturnType<typeof db.openTable>>) => Promise<unknown>;

/** What loses against another writer, or meets a column that has just been renamed, is tried again on a fresh look. */
async function done(what: string, work: Work) {
  try {
    const table = await db.openTable(name);
    await work(table);
    return true;
  } catch (error) {
    say({ refused: what, why: String(error).split("\n")[0] });
    return false;
  }
}

say("ready");
for (let id = 1_000_000; !told.signal.aborted; id++) {
  const appended = await done("append", async (table) => {
    const schema = await table.schema();
    // The column that holds the value changes its name and its type.
    const row = Object.fromEntries(schema.fields.map((field) => [field.name, field.name === "id" ? id : id * 2]));
    row["label"] = id % 100;
    await table.add(lancedb.makeArrowTable([row], { schema }));
  });
  if (appended) say({ appended: id });
  if (id % 5 === 0 && (await done("delete", (table) => table.delete(`id = ${id - 3}`)))) say({ deleted: id - 3 });
  if (id % 3 === 0) {
    // Not younger than the longest step: docs/internals/ledger.md.
    const old = new Date(Date.now() - 4_000);
    let removed = 0;
    const optimize: Work = async (table) =>
      (removed = (await table.optimize({ cleanupOlderThan: old })).prune.oldVersionsRemoved);
    if (await done("optimize", optimize)) say({ optimized: name, ...(removed > 0 ? { removed } : {}) });
  }
  if (id % 11 === 0) {
    const ledger = await db.openTable("_migrations");
    await ledger.optimize().then(
      () => say({ optimized: "_migrations" }),
      (error: unknown) => say({ refused: "optimize the ledger", why: String(error).split("\n")[0] }),
    );
  }
  if (id % 13 === 0 && (await done("index", (table) => table.createIndex("label", { config: lancedb.Index.btree() }))))
    say({ indexed: "label" });
}
say("ended");
process.exit(0);

/**
 * An application that adds, changes and deletes documents until its standard input gets a line, as fast as it can with
 * a pause; each document of its own range of ids. It ends with what was acknowledged: the text of each document, or
 * null if it was deleted. An operation without an answer leaves its document unknown. Arguments: the folder of the
 * database or the address of its service, first id.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { lancedb } from "../support/tables.ts";

const [database, first] = [process.argv[2]!, Number(process.argv[3])];
const service = database.startsWith("http:") ? database : undefined;
const db =
  service === undefined
    ? await lancedb.connect(database, { readConsistencyInterval: 0 })
    : await lancedb.connect("db://docs", { apiKey: process.env["MIGRATE_API_KEY"]!, hostOverride: service });
const table = await db.openTable("docs");
const texts = new Map<number, string | null | undefined>();
const told = new AbortController();
process.stdin.once("data", () => told.abort());
console.log("ready");

const counts = { add: 0, update: 0, delete: 0, refused: 0 };
for (let turn = 0; !told.signal.aborted; turn++) {
  const there = [...texts].filter(([, text]) => typeof text === "string").map(([id]) => id);
  const id = there[(turn * 7) % (there.length || 1)] ?? 0;
  const what = there.length < 5 || turn % 3 === 0 ? "add" : turn % 7 === 0 ? "delete" : "update";
  const text = `writer ${first}, turn ${turn}`;
  const own = what === "add" ? first + turn : id;
  const before = texts.get(own);
  texts.set(own, undefined);
  try {
    if (what === "add") await table.add([{ id: own, text }]);
    else if (what === "update") await table.update({ where: `id = ${own}`, values: { text } });
    else await table.delete(`id = ${own}`);
    texts.set(own, what === "delete" ? null : text);
    counts[what]++;
  } catch {
    counts.refused++;
    // The engine refuses a commit that lost to others; nothing of it was done. A service may have done it.
    if (service !== undefined) continue;
    if (what === "add") texts.delete(own);
    else texts.set(own, before);
  }
  await sleep(20);
}
console.log(JSON.stringify({ texts: [...texts].filter(([, text]) => text !== undefined), counts }));
process.exit(0);

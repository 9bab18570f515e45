/**
 * An application that adds, changes and deletes documents until its standard input gets a line, as fast as it can with
 * a pause; each document of its own range of ids. It ends with what was acknowledged: the text of each document, or
 * null if it was deleted. An operation without an answer leaves its document unknown. Arguments: the folder of the
 * database or the address of its service, first id, the pause in milliseconds, and which vectors it writes, if it does:
 * those of the `old` model, or of the model that the column has (`both`). In the last case, it repeats operations that
 * are refused.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { Schema } from "apache-arrow";
import { lancedb } from "../support/tables.ts";
import { oldVectorOf, vectorOf } from "../support/vector-of.ts";

const [database, first, pause, models] = [
  process.argv[2]!,
  Number(process.argv[3]),
  Number(process.argv[4]),
  process.argv[5],
];
const service = database.startsWith("http:") ? database : undefined;
const attempts = models === "both" ? 20 : 1;
// An application that knows both models refreshes its table itself, so its schema may be outdated when it writes.
const fresh = models === undefined ? { readConsistencyInterval: 0 } : {};
const db =
  service === undefined
    ? await lancedb.connect(database, fresh)
    : await lancedb.connect("db://docs", { apiKey: process.env["MIGRATE_API_KEY"]!, hostOverride: service });
const table = await db.openTable("docs");
const texts = new Map<number, string | null | undefined>();
const told = new AbortController();
process.stdin.once("data", () => told.abort());
console.log("ready");

const counts = { add: 0, update: 0, delete: 0, refused: 0 };

/** Writes a document with the vector that the column takes. */
async function write(what: "add" | "update", id: number, text: string): Promise<void> {
  const vector = { embedding: [...oldVectorOf(text)] };
  let seen: Schema | undefined;
  if (models === "both") {
    await table.checkoutLatest();
    const { fields } = (seen = await table.schema());
    if (fields.some(({ name }) => name === "embedding_old")) vector.embedding = [...vectorOf(text)];
  }
  const values = { text, ...(models !== undefined && vector) };
  if (what === "update") await table.update({ where: `id = ${id}`, values });
  // Of a plain object, the client would cut the vector, or fill it up, if the schema has changed.
  else await table.add(seen === undefined ? [{ id, ...values }] : arrowTable({ id, ...values }, seen));
}

function arrowTable(row: Record<string, unknown>, { fields }: Schema) {
  const schema = new Schema(fields.filter(({ name }) => name in row));
  return lancedb.makeArrowTable([row], { schema });
}

/** Whether it was acknowledged. */
async function attempt(
  what: "add" | "update" | "delete",
  id: number,
  text: string,
  isRepeated = false,
): Promise<boolean> {
  try {
    if (what === "delete") await table.delete(`id = ${id}`);
    // Another attempt may have added it.
    else if (what !== "add" || !isRepeated || (await table.countRows(`id = ${id}`)) === 0) await write(what, id, text);
    return true;
  } catch {
    counts.refused++;
    return false;
  }
}

for (let turn = 0; !told.signal.aborted; turn++) {
  const there = [...texts].filter(([, text]) => typeof text === "string").map(([id]) => id);
  const id = there[(turn * 7) % (there.length || 1)] ?? 0;
  const what = there.length < 5 || turn % 3 === 0 ? "add" : turn % 7 === 0 ? "delete" : "update";
  const text = `writer ${first}, turn ${turn}`;
  const own = what === "add" ? first + turn : id;
  const before = texts.get(own);
  texts.set(own, undefined);
  let isDone = await attempt(what, own, text);
  for (let tries = 1; !isDone && tries < attempts; tries++) isDone = await attempt(what, own, text, true);
  if (isDone) {
    texts.set(own, what === "delete" ? null : text);
    counts[what]++;
  } else if (service === undefined) {
    // The engine refuses a commit that lost to others; nothing of it was done. A service may have done it.
    if (what === "add") texts.delete(own);
    else texts.set(own, before);
  }
  await sleep(pause);
}
console.log(JSON.stringify({ texts: [...texts].filter(([, text]) => text !== undefined), counts }));
process.exit(0);

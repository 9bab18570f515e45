/**
 * An application beside a run: started as a process with a folder, a table, a number of its own and the milliseconds that it
 * waits after each append, it appends rows, and says on stdout which were acknowledged, until it is told on stdin to end. It
 * opens the table once, as applications do, and again only when it was refused.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { lancedb } from "../support/tables.ts";

const [, , folder = "", name = "", own = "0", pause = "0"] = process.argv;
const db = await lancedb.connect(folder);
const told = new AbortController();
process.stdin.on("data", () => told.abort());

const acknowledged: number[] = [];
const refusals = new Map<string, number>();
let table = await db.openTable(name);
process.stdout.write("ready\n");
for (let count = 0; !told.signal.aborted; count++) {
  const id = Number(own) * 1_000_000 + count;
  try {
    await table.add([{ id, value: id % 1_000 }]);
    acknowledged.push(id);
  } catch (error) {
    const [why = ""] = /conflict|different schema|not in schema|incompatible|nullable/i.exec(String(error)) ?? [
      String(error),
    ];
    refusals.set(why, (refusals.get(why) ?? 0) + 1);
    table = await db.openTable(name);
  }
  if (pause !== "0") await sleep(Number(pause));
}
process.stdout.write(`${JSON.stringify({ acknowledged, refusals: Object.fromEntries(refusals) })}\n`);
process.exit(0);

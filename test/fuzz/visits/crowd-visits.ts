/** Clients that write at the same time, and those that go before they are answered. */
import { setTimeout as sleep } from "node:timers/promises";
import { bytesOf, openConnection } from "./connection.ts";
import { drawRows, newTable, rowsOfArrow, rowsStream, type Row } from "./own-table.ts";
import { ask, create, Unsure, type Scene } from "./scene.ts";

/** Appends beside retypes: a value that was acknowledged must stay. */
export async function raceVisit(scene: Scene): Promise<void> {
  const { chance } = scene;
  const table = newTable(scene.name, chance);
  await create(scene, table);
  const path = `/v1/table/${table.name}`;
  const acknowledged = new Set(table.content.rows.map((row) => Number(row["id"])));
  const { columns } = table.content;
  const writers = Array.from({ length: 3 }, async () => {
    for (let turn = 0; turn < 3; turn++) {
      const rows = drawRows(chance, table, 1 + chance.below(3)).map((row) => ({ ...row, n: row["id"]! }) as Row);
      const { status } = await ask(scene, { path: `${path}/insert`, body: rowsStream(columns, rows) });
      if (status === 200) for (const row of rows) acknowledged.add(Number(row["id"]));
      // Beside a retype, the stream may have the old type.
      else if (status !== 400) throw new Error(`an append beside a retype: ${status}`);
    }
  });
  const retyping = (async () => {
    for (const type of ["int64", "int32", "int64"]) {
      const { status } = await ask(scene, {
        path: `${path}/alter_columns`,
        body: { alterations: [{ path: "n", data_type: { type } }] },
      });
      if (status !== 200) throw new Error(`a retype beside appends: ${status}`);
    }
  })();
  const failed = (await Promise.allSettled([...writers, retyping])).find(({ status }) => status === "rejected");
  if (failed !== undefined) throw (failed as PromiseRejectedResult).reason;
  const found = rowsOfArrow((await (await scene.engine.openTable(table.name)).query().toArrow()) as never);
  const first = table.content.rows.length;
  const ids = found.map((row) => Number(row["id"]));
  if (new Set(ids).size < ids.length) throw new Error("a row twice, of appends beside retypes");
  for (const id of acknowledged) {
    const row = found.find((each) => each["id"] === id);
    if (row === undefined)
      throw new Error(`row ${id} of ${acknowledged.size} was acknowledged, and is missing after retypes`);
    if (id >= first && row["n"] !== id)
      throw new Error(`row ${id} was acknowledged with n ${id}, and has ${row["n"]} after retypes`);
  }
  const strange = ids.find((id) => !acknowledged.has(id));
  if (strange !== undefined) throw new Error(`row ${strange} was refused, and is there`);
}

/** Clients that go: their appends are there completely or not at all, and their answers hold nothing. */
export async function goneVisit(scene: Scene): Promise<void> {
  const { chance, apiKey } = scene;
  const table = newTable(scene.name, chance);
  await create(scene, table);
  const path = `/v1/table/${table.name}`;
  const batches: (readonly number[])[] = [];
  const gone = Array.from({ length: 3 + chance.below(8) }, async () => {
    const connection = openConnection(scene.port);
    if (chance.happens(0.4)) {
      // Of an answer of some megabytes, a part is read.
      connection.write(bytesOf({ path: "/v1/table/large/query", body: { vector: [], k: 100_000 } }, apiKey));
      if (chance.happens(0.7))
        await new Promise((resolve) => connection.socket.once("data", resolve).once("close", resolve));
    } else {
      const rows = drawRows(chance, table, 1 + chance.below(5));
      batches.push(rows.map((row) => Number(row["id"])));
      const bytes = bytesOf({ path: `${path}/insert`, body: rowsStream(table.content.columns, rows) }, apiKey);
      connection.write(chance.happens(0.7) ? bytes : bytes.subarray(0, chance.below(bytes.length)));
      await sleep(chance.below(30));
    }
    connection.destroy();
    scene.sent("gone");
  });
  await Promise.all(gone);
  // It waits for those that are at work.
  const { status } = await ask(scene, {
    path: `${path}/alter_columns`,
    body: { alterations: [{ path: "n", rename: "m" }] },
  });
  if (status !== 200) throw new Unsure(`${status}`);
  const ids = new Set(
    rowsOfArrow((await (await scene.engine.openTable(table.name)).query().toArrow()) as never).map((row) =>
      Number(row["id"]),
    ),
  );
  for (const { id } of table.content.rows as readonly { id: number }[])
    if (!ids.has(id)) throw new Error(`row ${id} has gone with a client that wrote others`);
  for (const batch of batches) {
    const there = batch.filter((id) => ids.has(id)).length;
    if (there !== 0 && there !== batch.length)
      throw new Error(`of an append by a client that went, ${there} of ${batch.length} rows are there`);
  }
}

/** The tables that the fuzzer works on, and the one whose rows must all be there at the end. */
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { jsonType, streamType } from "../../src/wire/content-types.ts";
import { send } from "../service/raw.ts";
import { shapes, streamOf } from "./draw/arrow-bodies.ts";
import { fuzzedTables } from "./draw/texts.ts";
import { rowsOfArrow } from "./visits/own-table.ts";

export const lancedb = createRequire(import.meta.url)("@lancedb/lancedb") as typeof import("@lancedb/lancedb");

export interface Place {
  readonly folder: string;
  /** Beside the data folder, which has links into it. Nothing of it may change. */
  readonly outside: string;
}

export async function makePlace(home: string): Promise<Place> {
  const [folder, outside] = [join(home, "tables-of-the-service"), join(home, "outside")];
  for (const path of [outside, join(folder, ".lance-migrate")]) mkdirSync(path, { recursive: true });
  writeFileSync(join(outside, "thesis.txt"), "the only copy");
  const elsewhere = await lancedb.connect(outside);
  await elsewhere.createTable("a", [{ id: 1, title: "a" }]);
  elsewhere.close();
  const inside = await lancedb.connect(folder);
  await inside.createTable("partly", [{ id: 1, title: "a" }]);
  inside.close();
  renameSync(join(folder, "partly.lance", "_versions"), join(outside, "versions"));
  symlinkSync(join(outside, "versions"), join(folder, "partly.lance", "_versions"));
  symlinkSync(join(outside, "a.lance"), join(folder, "linked.lance"));
  symlinkSync(join(outside, "nothing"), join(folder, "dangling.lance"));
  for (const name of [crypto.randomUUID(), `dropped-${crypto.randomUUID()}`, `body-${crypto.randomUUID()}`])
    symlinkSync(outside, join(folder, ".lance-migrate", name));
  return { folder, outside };
}

export interface Client {
  post(
    path: string,
    body: Buffer | object,
  ): Promise<{ readonly status: number; readonly text: string; readonly body: Buffer }>;
}

export function aClient(port: number, apiKey: string): Client {
  return {
    async post(path, body) {
      const isArrow = Buffer.isBuffer(body);
      const { status, body: answer } = await send(`http://127.0.0.1:${port}`, {
        path,
        headers: { "x-api-key": apiKey, "content-type": isArrow ? streamType : jsonType },
        body: isArrow ? body : JSON.stringify(body),
      });
      return { status, text: answer.toString(), body: answer };
    },
  };
}

/** Creates the fuzzed tables again, so that requests find tables, and these do not grow without end. */
export async function renewTables({ post }: Client): Promise<void> {
  for (const name of fuzzedTables) {
    await post(`/v1/table/${name}/drop`, {});
    await post(`/v1/table/${name}/create?mode=exist_ok`, streamOf(shapes[name]!, 0, 100));
  }
  await post("/v1/table/indexed/create_index", { column: "id", index_type: "BTREE" });
  await post("/v1/table/indexed/create_index", { column: "title", index_type: "FTS" });
  await post("/v1/table/tagged/tags/create", { tag: "one", version: 1 });
}

/** A table of some megabytes, for answers that nobody reads to their end. */
export async function makeLarge({ post }: Client): Promise<void> {
  const { status, text } = await post("/v1/table/large/create", streamOf(["id", "title", "vector", "tags"], 0, 20_000));
  if (status !== 200) throw new Error(`no table: ${text}`);
}

const quietRows = 50;

/**
 * Two tables that no drawn request names: one of which nothing is written, and one that gets rows and loses some. Gives
 * what is wrong with them at the end.
 */
export async function keepShadow({ post }: Client) {
  const created = await post("/v1/table/quiet/create", streamOf(["id", "title", "vector"], 0, quietRows));
  const alike = await post("/v1/table/shadow/create", streamOf(["id", "title"], 0, 0));
  if (created.status !== 200 || alike.status !== 200) throw new Error(`no tables: ${created.text} ${alike.text}`);
  const acknowledged = new Set<number>();
  const unsure = new Set<number>();
  const over = new AbortController();
  let next = 0;
  const insert = async () => {
    const id = next++;
    const { status } = await post("/v1/table/shadow/insert", streamOf(["id", "title"], id, 1));
    if (status === 200) acknowledged.add(id);
    else if (status >= 500) unsure.add(id);
  };
  const remove = async () => {
    const [id] = acknowledged;
    if (id === undefined) return;
    acknowledged.delete(id);
    unsure.add(id);
    const { status } = await post("/v1/table/shadow/delete", { predicate: `id = ${id}` });
    if (status === 200) unsure.delete(id);
  };
  const writing = (async () => {
    for (let turn = 1; !over.signal.aborted; turn++) {
      await (turn % 4 === 0 ? remove() : insert());
      await sleep(250);
    }
  })();
  return {
    async stop(): Promise<readonly string[]> {
      over.abort();
      await writing;
      const problems: string[] = [];
      const count = async (table: string, predicate?: string) => {
        const { status, text } = await post(`/v1/table/${table}/count_rows`, { predicate });
        return status === 200 ? Number(text) : `${status} ${text}`;
      };
      const quiet = await count("quiet");
      if (quiet !== quietRows) problems.push(`table quiet has ${quiet} rows instead of ${quietRows}`);
      const { status, text, body } = await post("/v1/table/shadow/query", {
        vector: [],
        k: 2 ** 31 - 1,
        columns: ["id"],
      });
      if (status !== 200) return [...problems, `table shadow can't be read: ${status} ${text}`];
      const found = new Map<number, number>();
      for (const { id } of rowsOfArrow(body)) found.set(Number(id), (found.get(Number(id)) ?? 0) + 1);
      for (const id of acknowledged)
        if (found.get(id) !== 1) problems.push(`row ${id} was acknowledged, and is there ${found.get(id) ?? 0} times`);
      for (const id of found.keys())
        if (!acknowledged.has(id) && !unsure.has(id)) problems.push(`row ${id} is there, which was deleted or refused`);
      return problems;
    },
    /** Rows whose insert was acknowledged and whose deletion was not requested. */
    rows: () => acknowledged.size,
  };
}

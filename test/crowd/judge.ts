/** Compares the tables, as two engines read them and find rows by their indexes, with what the clients know. */
import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { officialPackages, pythonWith } from "../clients/client.ts";
import { chanceFor } from "../simulate/seeded-random.ts";
import type { Problem, RowRecord } from "./record.ts";

const lancedb = createRequire(import.meta.url)("@lancedb/lancedb") as typeof import("@lancedb/lancedb");

interface Judged {
  readonly folder: string;
  readonly seed: number;
  readonly tables: readonly string[];
  readonly records: readonly ReadonlyMap<string, RowRecord>[];
  readonly idsOfClient: number;
  readonly wordOf: (client: number) => string;
}

/** What is looked for by indexes. */
interface Sample {
  readonly ids: readonly number[];
  readonly word: string;
  readonly vectors: readonly (readonly number[])[];
}

interface Seen {
  readonly count: number;
  readonly rows: readonly (readonly [id: number, value: number | null, text: string, vector: readonly number[]])[];
  readonly byId: readonly number[];
  readonly byWord: readonly number[];
  /** The row that is next to each vector. */
  readonly nearest: readonly number[];
}

export async function judgeTables(judged: Judged): Promise<{ rows: number; problems: readonly Problem[] }> {
  const { tables, records, seed, wordOf, folder } = judged;
  const chance = chanceFor("samples", seed);
  const all = await Promise.all(tables.map(async (table) => await rowsOf(folder, table)));
  const samples = all.map((rows): Sample => {
    const some = Array.from({ length: 100 }, () => chance.pick(rows));
    return {
      ids: [...new Set(some.flatMap(([id]) => [id, id + 1]))],
      word: wordOf(chance.below(records.length)),
      vectors: some.slice(0, 10).map(([, , , vector]) => vector),
    };
  });
  const byName = Object.fromEntries(tables.map((table, at) => [table, samples[at]!]));
  const seen = {
    lancedb: await seenByClient(folder, byName),
    pylance: await seenByPylance(folder, byName),
  };
  const problems = Object.entries(seen).flatMap(([engine, byTable]) =>
    tables.flatMap((table) =>
      problemsOf(judged, table, byName[table]!, byTable[table]!).map(({ kind, words }) => ({
        kind,
        words: `${engine}: ${words}`,
      })),
    ),
  );
  return { rows: all.flat().length, problems };
}

function problemsOf({ records, idsOfClient }: Judged, table: string, sample: Sample, seen: Seen): readonly Problem[] {
  const { rows } = seen;
  const byClient = Map.groupBy(rows, ([id]) => Math.floor(id / idsOfClient));
  const problems = records.flatMap((record, client) =>
    record.get(table)!.read((byClient.get(client) ?? []).map(([id, value, text]) => ({ id, value, text }))),
  );
  const ids = rows.map(([id]) => id);
  const wanted = new Set(sample.ids);
  const expected = {
    count: rows.length,
    byId: ids.filter((id) => wanted.has(id)),
    byWord: rows.filter(([, , text]) => text.startsWith(`${sample.word} `)).map(([id]) => id),
    nearest: sample.vectors.map((vector) => rows.find(([, , , own]) => String(own) === String(vector))![0]),
  };
  for (const [what, right] of Object.entries(expected)) {
    const found = seen[what as keyof typeof expected];
    const sorted = [right, found].map((list) => (Array.isArray(list) && what !== "nearest" ? list.toSorted() : list));
    if (JSON.stringify(sorted[0]) === JSON.stringify(sorted[1])) continue;
    problems.push({ kind: "other", words: `${what} of ${table} gives ${JSON.stringify(found).slice(0, 200)}` });
  }
  return problems;
}

async function openTable(folder: string, name: string) {
  const db = await lancedb.connect(folder);
  return await db.openTable(name);
}

async function rowsOf(folder: string, name: string): Promise<Seen["rows"]> {
  const rows = await (await openTable(folder, name)).query().toArray();
  return rows.map((row) => [
    Number(row.id),
    row.value === null ? null : Number(row.value),
    row.text,
    [...row.vector].map(Number),
  ]);
}

async function seenByClient(folder: string, samples: Readonly<Record<string, Sample>>) {
  const seen: Record<string, Seen> = {};
  for (const [name, { ids, word, vectors }] of Object.entries(samples)) {
    const table = await openTable(folder, name);
    const idsOf = (rows: readonly { readonly id: unknown }[]) => rows.map(({ id }) => Number(id));
    const most = 1_000_000;
    const byId = await table
      .query()
      .where(`id IN (${ids.join(", ")})`)
      .select(["id"])
      .toArray();
    const byWord = await table
      .query()
      .fullTextSearch(word, { columns: ["text"] })
      .select(["id", "_score"])
      .limit(most)
      .toArray();
    const nearest: number[] = [];
    for (const vector of vectors)
      nearest.push(
        ...idsOf(
          await table
            .vectorSearch([...vector])
            .nprobes(1_000)
            .select(["id", "_distance"])
            .limit(1)
            .toArray(),
        ),
      );
    const rows = await rowsOf(folder, name);
    seen[name] = { count: await table.countRows(), rows, byId: idsOf(byId), byWord: idsOf(byWord), nearest };
  }
  return seen;
}

async function seenByPylance(folder: string, samples: Readonly<Record<string, Sample>>) {
  const script = fileURLToPath(new URL("seen.py", import.meta.url));
  const run = promisify(execFile)(pythonWith(...officialPackages), [script, folder], { maxBuffer: 2 ** 30 });
  run.child.stdin!.end(JSON.stringify(samples));
  return JSON.parse((await run).stdout) as Readonly<Record<string, Seen>>;
}

/** Many writers save with `lance-migrate/app` while `up` and `down` switch the model of the column. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { modelOf, save, search, type Models } from "../../src/features/app/app.ts";
import { down } from "../../src/commands/down.ts";
import { up } from "../../src/commands/up.ts";
import { drawnChance } from "../support/kill-moments.ts";
import { rounds } from "../support/rounds.ts";
import { aScene, documentsIn, embedded, newModel, oldModel, vectorsBy, type Document } from "./scene.ts";

const writers = 20;
/** Documents that all writers change. */
const shared = 5;

type Titled = Pick<Document, "title">;

/** Models that take a while. */
function slowModels(milliseconds: () => number): Models<Titled> {
  const slow = (vectorIn: (title: string | null) => readonly number[]) => async (rows: readonly Titled[]) => {
    await sleep(milliseconds());
    return rows.map(({ title }) => vectorIn(title));
  };
  return Object.fromEntries(Object.entries(vectorsBy).map(([version, vectorIn]) => [version, slow(vectorIn)]));
}

interface Saved {
  readonly title: string | undefined;
  readonly began: number;
  ended: number;
}

test(`${writers} writers save while the model changes and is rolled back: each vector is that of its text, and no save is lost`, async () => {
  const { chance } = drawnChance();
  const models = slowModels(() => 5 + chance.below(45));
  // All begin to write when the columns are switched.
  let bell = Promise.withResolvers<void>();
  const ring = () => {
    bell.resolve();
    bell = Promise.withResolvers();
  };
  const beforeSwitch = async () => {
    ring();
    await sleep(chance.below(100));
  };
  const titles = Array.from({ length: 200 }, (_, id) => `title ${id}`);
  const { folder, options, open, pend } = await aScene(titles, beforeSwitch);
  const saves = new Map<number, Saved[]>();
  let clock = 0;
  let searches = 0;
  const record = async (ids: readonly number[], title: string | undefined, write: () => Promise<unknown>) => {
    const entry: Saved = { title, began: ++clock, ended: Infinity };
    for (const id of ids) saves.set(id, [...(saves.get(id) ?? []), entry]);
    await write();
    entry.ended = ++clock;
  };
  const tables = await Promise.all(Array.from({ length: writers / 2 }, open));
  let told = new AbortController();
  const write = async (writer: number, phase: number) => {
    const { signal } = told;
    // Two writers have one table: each refreshes that of the other.
    const table = tables[writer % tables.length]!;
    const first = 10_000 + 100 * writer;
    for (let turn = 0; !signal.aborted; turn++) {
      const began = performance.now();
      const title = `writer ${writer}, phase ${phase}, turn ${turn}`;
      const own = [
        first + chance.below(10),
        first + 10 + chance.below(10),
        ...(chance.below(3) === 0 ? [chance.below(shared)] : []),
      ];
      await record(own, title, async () => {
        const documents = own.map((id): Document => ({ id, title }));
        await save(table, "embedding", documents, { key: "id", models, attempts: 50 });
      });
      if (turn % 5 === 4) await record([own[0]!], undefined, async () => await table.delete(`id = ${own[0]!}`));
      const query = { title: `title ${100 + chance.below(100)}` };
      const found = await search(table, "embedding", query, { models }, async (some) => await some.limit(1).toArray());
      expect(found).toMatchObject([{ _distance: 0 }]);
      searches++;
      // On a busy machine they wait longer: else the migration would never get its turn.
      const took = performance.now() - began;
      await Promise.race([bell.promise, sleep(chance.below(5_000) + 5 * took)]);
    }
  };
  const judge = async (model: string) => {
    expect((await modelOf(tables[0]!, "embedding")) ?? oldModel).toBe(model);
    const documents = await documentsIn(folder);
    expect(documents).toEqual(embedded(documents, model));
    const titles = new Map(documents.map(({ id, title }) => [id, title ?? undefined]));
    expect(titles.size).toBe(documents.length);
    const lost = [...saves].flatMap(([id, all]) => {
      const kept = all.filter(({ ended }) => !all.some(({ began }) => began > ended));
      return kept.some(({ title }) => title === titles.get(id)) ? [] : [`${id} has ${titles.get(id)}`];
    });
    expect(lost).toEqual([]);
  };
  const during = async (phase: number, migrate: () => Promise<unknown>) => {
    told = new AbortController();
    const all = Promise.all(Array.from({ length: writers }, async (_, writer) => await write(writer, phase)));
    try {
      await Promise.race([all, sleep(300)]);
      await Promise.race([all, migrate()]);
    } finally {
      told.abort();
      ring();
    }
    await all;
  };
  pend();
  for (let phase = 0; phase < rounds(2, 10); phase += 2) {
    await during(phase, async () => await up(options));
    await judge(newModel);
    await during(phase + 1, async () => await down(options));
    await judge(oldModel);
  }
  console.log(`${[...saves.values()].flat().length} documents were saved or deleted, ${searches} searches`);
});

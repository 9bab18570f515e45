/** Runs that compute the rows of a table are killed, while an application adds, changes and deletes rows of the other table. */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { aProjectOn, key, type Way } from "../e2e/support/project-on.ts";
import { startScript } from "../oracle/judge.ts";
import { drawnChance } from "../support/kill-moments.ts";
import { lacks } from "../support/needs.ts";
import { leaping } from "../support/project.ts";
import { ofThisTurn, rounds } from "../support/rounds.ts";
import { addRows, lancedb } from "../support/tables.ts";

const kills = rounds(2, 40);
const documents = rounds(600, 6_000);
const [batch, concurrency] = [16, 2];
const code = fileURLToPath(new URL("../fixtures/slow-words.ts", import.meta.url));

const populating = (version: string) =>
  `m.populateTable("words", ${JSON.stringify({
    from: "docs",
    columns: ["text"],
    key: "id",
    source: "document",
    mark: "made_from",
    with: code,
    version,
    batch,
    concurrency,
  })}),`;

async function aScene(way: Way) {
  const { data, migrate, start, ...rest } = await aProjectOn(way);
  const columns = `{ document: m.int64(), word: m.utf8(), place: m.int32(), made_from: m.utf8() }`;
  const project = {
    ...rest,
    database: data,
    migrate: (args: readonly string[], env?: object) => migrate(args, { ...key, ...env }),
    start: (args: readonly string[], env?: object) => start(args, { ...key, ...env }),
  };
  project.migration(
    "0001_tables.ts",
    `m.createTable("docs", { id: m.int64().notNull(), text: m.utf8() }), m.createTable("words", ${columns}),`,
  );
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  await addRows(
    data,
    "docs",
    Array.from({ length: documents }, (_, id) => ({ id, text: `a b${id} c` })),
  );
  await addRows(data, "words", [{ document: null, word: "own", place: 0, made_from: null }]);
  return project;
}

/** An application that changes documents until it is ended. */
function aWriter(database: string, first: number, chance: { next(): number }) {
  const ending = new AbortController();
  let last = first;
  const writing = (async () => {
    const docs = await (await lancedb.connect(database)).openTable("docs");
    while (!ending.signal.aborted) {
      const id = Math.floor(chance.next() * documents);
      await docs.checkoutLatest();
      await docs.update({ where: `id = ${id}`, values: { text: `changed ${last} ${id}` } });
      await docs.add([{ id: last, text: `new ${last}` }]);
      if (last % 3 === 0) await docs.delete(`id = ${Math.floor(chance.next() * documents)}`);
      last++;
      await sleep(60);
    }
  })();
  return {
    end: async () => {
      ending.abort();
      await writing;
    },
  };
}

const paidFor = ({ folder }: { readonly folder: string }) => {
  const log = join(folder, "computed.txt");
  return existsSync(log) ? readFileSync(log, "utf8").trimEnd().split("\n").length : 0;
};

test.skipIf(lacks("python")).each(ofThisTurn(["lance", "namespace"] as const, 2))(
  `a run that computes rows is killed at ${kills} random moments beside a writer: pylance finds the rows of each document, once, and those of no other, on %s`,
  async (way) => {
    const project = await aScene(way);
    await using judge = startScript("populated.py");
    const places = { documents: join(project.database, "docs.lance"), words: join(project.database, "words.lance") };
    const { chance } = drawnChance();
    let killed = 0;
    for (const version of ["1", "2"]) {
      project.migration(`000${Number(version) + 1}_words.ts`, populating(version));
      const writer = aWriter(project.database, documents + Number(version) * 1_000_000, chance);
      // Each run makes few enough calls that some are left for the last one.
      project.write("hold", String(Math.floor(documents / batch / (kills + 1))));
      for (let time = 0; time < kills; time++) {
        const before = paidFor(project);
        const running = project.start(["up"], leaping());
        for (let wait = 0; wait < 500 && running.process.exitCode === null && paidFor(project) === before; wait++)
          await sleep(10);
        await sleep(chance.next() * 1_500);
        running.process.kill("SIGKILL");
        await running.finished;
        if (running.process.signalCode === "SIGKILL") killed++;
      }
      rmSync(join(project.folder, "hold"));
      await writer.end();
      const before = paidFor(project);
      const last = await project.migrate(["up"], leaping());
      expect(last, last.stderr).toMatchObject({ code: 0 });
      console.log(
        `${way}, version ${version}: ${before} computed before the last run, ${paidFor(project) - before} in it`,
      );
      expect(await judge.ask(places)).toMatchObject({ problems: [], own: ["own"] });
    }
    expect(killed).toBeGreaterThan(0);
  },
);

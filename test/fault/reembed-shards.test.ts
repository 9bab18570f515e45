/** Shards of `prepare` are killed and started again, while applications add, change and delete rows. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { drawnChance } from "../support/kill-moments.ts";
import { leaping } from "../support/project.ts";
import { rounds } from "../support/rounds.ts";
import { lancedb } from "../support/tables.ts";
import { aScene, batch, concurrency, ended, paidFor, startWriter, wrong } from "./backfill-scene.ts";

/** The number of shards, and of changes of a model. */
const [shards, changes] = [3, rounds(1, 10)];

/** Moves the rows, which still have their values. The writers may come first. */
async function optimize(database: string, tries = 20): Promise<void> {
  try {
    await (await (await lancedb.connect(database)).openTable("docs")).optimize();
  } catch (error) {
    if (tries === 1 || !/commit conflict/i.test(String(error))) throw error;
    await optimize(database, tries - 1);
  }
}

test("shards are killed beside writers: each vector is that of its row's text, and little is computed twice", async () => {
  for (let change = 0; change < changes; change++) {
    const { chance } = drawnChance();
    const scene = await aScene("lance", rounds(300, 1_000) + chance.below(1_000), { change: "reembed" });
    const { project } = scene;
    const writers = await Promise.all([1_000_000, 2_000_000].map((first) => startWriter(scene, first, ["both"])));
    let killed = 0;
    const untilDone = async (index: number) => {
      for (let run = 0; ; run++) {
        const running = project.start(["prepare", "--shard", `${index}/${shards}`], leaping());
        if (run < index) {
          await Promise.race([running.finished, sleep(500 + chance.next() * 3_000)]);
          running.process.kill("SIGKILL");
        }
        const { code, stderr } = await running.finished;
        if (running.process.signalCode === "SIGKILL") killed++;
        else return expect({ code, stderr }).toMatchObject({ code: 0 });
      }
    };
    await Promise.all(Array.from({ length: shards }, (_, at) => untilDone(at + 1)));
    const byShards = paidFor(project).length;
    await optimize(project.database);
    const said = await Promise.all(writers.map(ended));
    expect(await project.migrate(["prepare"], leaping())).toMatchObject({ code: 0 });
    expect(await project.migrate(["up"], leaping())).toMatchObject({ code: 0 });
    expect(await wrong(project, said)).toEqual([]);
    const computed = paidFor(project);
    const twice = computed.length - new Set(computed).size;
    // For each call that may be made at a time, one may be under way, and the results of another one on their way.
    expect(twice).toBeLessThanOrEqual((killed + shards) * 2 * batch * concurrency);
    console.log(`${killed} shards killed; ${byShards} of ${computed.length} rows computed by shards, ${twice} again`);
  }
});

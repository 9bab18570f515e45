/** Runs that compute a column are killed, while applications add, change and delete rows. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { drawnChance } from "../support/kill-moments.ts";
import { leaping } from "../support/project.ts";
import { ofThisTurn, rounds } from "../support/rounds.ts";
import { aScene, batch, computing, concurrency, ended, paidFor, startWriter, wrong } from "./backfill-scene.ts";

const kills = rounds(2, 50);
const documents = rounds(400, 20_000);

// When populate.test.ts and deferred.test.ts have the other one.
test.each(ofThisTurn(["namespace", "lance"] as const, 2))(
  `a run that computes a column is killed at ${kills} random moments beside writers: each value is of its row's text, no write is lost, and little is computed twice, on %s`,
  async (way) => {
    const scene = await aScene(way, documents);
    const { project } = scene;
    const writers = await Promise.all([1_000_000, 2_000_000].map((first) => startWriter(scene, first)));
    const { chance } = drawnChance();
    let killed = 0;
    // Each run makes few enough calls that some are left for the last one: a run that has ended computes no later row.
    project.write("hold", String(Math.floor(documents / batch / (kills + 1))));
    for (let time = 0; time < kills; time++) {
      const before = paidFor(project).length;
      const running = project.start(["up"], leaping());
      // It first merges what the run before has computed. Every other one is killed later.
      const isLater = time % 2 === 0;
      if (isLater) await computing(running, project, before);
      await sleep(chance.next() * (isLater ? 800 : 2_500));
      running.process.kill("SIGKILL");
      await running.finished;
      if (running.process.signalCode === "SIGKILL") killed++;
    }
    rmSync(join(project.folder, "hold"));
    const said = await Promise.all(writers.map(ended));
    const last = await project.migrate(["up"], leaping());
    expect(last, last.stderr).toMatchObject({ code: 0 });
    expect(await wrong(project, said)).toEqual([]);
    const computed = paidFor(project);
    const twice = computed.length - new Set(computed).size;
    console.log(
      `${way}: ${killed} killed, ${computed.length} computed, ${twice} of them again; ${JSON.stringify(said.map(({ counts }) => counts))}`,
    );
    expect(killed).toBeGreaterThan(0);
    // For each call that may be made at a time, one may be under way, and the results of another one may be on their way.
    expect(twice).toBeLessThanOrEqual(killed * 2 * batch * concurrency);
  },
);

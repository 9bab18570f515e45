import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { rounds } from "../support/rounds.ts";
import { rowsOf } from "../support/tables.ts";
import { aScene, begun } from "./scene.ts";

const kills = rounds(12, 50);

test(`a run killed at ${kills} random moments is gone on with by the next one, and every value is right`, async () => {
  const scene = await aScene();
  const places = new Map<string, number>();
  for (let kill = 0; kill < kills; kill++) {
    const project = await scene.copy();
    const running = project.start(["up", "--json"]);
    await begun(running);
    await pause(scene.duration * Math.random());
    running.process.kill("SIGKILL");
    await running.finished;
    const records = await rowsOf(project.database, "_migrations");
    const last = records
      .toSorted((a, b) => Number(a.epoch) - Number(b.epoch) || Number(a.number) - Number(b.number))
      .at(-1);
    const place = `${String(last?.event)} ${String(last?.version ?? "")}`.trim();
    places.set(place, (places.get(place) ?? 0) + 1);

    const next = await project.migrate(["up"]);
    expect(next, next.stderr).toMatchObject({ code: 0 });
    await scene.requireRight(project);
  }
  console.log(`killed after the record: ${[...places].map(([place, times]) => `${place} (${times})`).join(", ")}`);
}, 900_000);

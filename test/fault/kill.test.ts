import { expect, test } from "vitest";
import { killAt, killMoments, newestRecord } from "../support/kill-moments.ts";
import { leaping } from "../support/project.ts";
import { rounds } from "../support/rounds.ts";
import { aScene } from "./scene.ts";

const kills = rounds(4, 50);

test(`a run killed at ${kills} random moments is gone on with by the next one, and every value is right`, async () => {
  const scene = await aScene();
  const { moments, words } = killMoments(kills, scene.lines);
  const places = new Map<string, number>();
  for (const moment of moments) {
    const context = words(moment);
    const project = await scene.copy();
    await killAt(project, ["up", "--json"], moment);
    const place = await newestRecord(project.database);
    places.set(place, (places.get(place) ?? 0) + 1);

    const next = await project.migrate(["up"], leaping());
    expect(next, `${context}\n${next.stderr}`).toMatchObject({ code: 0 });
    await scene.requireRight(project).catch((error: unknown) => {
      throw new Error(`not right when ${context}`, { cause: error });
    });
  }
  const where = [...places].map(([place, times]) => `${place} (${times})`).join(", ");
  console.log(`killed after the record: ${where}`);
  // In different migrations.
  expect(places.size, where).toBeGreaterThan(2);
});

import { expect, test } from "vitest";
import { killAt, killMoments, newestRecord } from "../support/kill-moments.ts";
import { rounds } from "../support/rounds.ts";
import { aScene } from "./scene.ts";

const kills = rounds(4, 50);

test(`a run killed at ${kills} random moments is gone on with by the next one, and every value is right`, async () => {
  const scene = await aScene();
  const { moments, words } = killMoments(kills, scene.lines, scene.duration);
  const places = new Map<string, number>();
  let killed = 0;
  for (const moment of moments) {
    const context = words(moment);
    const project = await scene.copy();
    const running = project.start(["up", "--json"]);
    if (await killAt(running, moment)) killed++;
    const place = await newestRecord(project.database);
    places.set(place, (places.get(place) ?? 0) + 1);

    const next = await project.migrate(["up"]);
    expect(next, `${context}\n${next.stderr}`).toMatchObject({ code: 0 });
    await scene.requireRight(project).catch((error: unknown) => {
      throw new Error(`not right when ${context}`, { cause: error });
    });
  }
  const where = [...places].map(([place, times]) => `${place} (${times})`).join(", ");
  console.log(`killed after the record: ${where}`);
  // Most were killed, in different migrations: otherwise nothing was tried.
  expect(killed, where).toBeGreaterThan(kills / 2);
  expect(places.size, where).toBeGreaterThan(2);
}, 900_000);

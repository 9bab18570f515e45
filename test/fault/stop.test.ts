import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { aScene, begun } from "./scene.ts";

const stops = 12;

// The machine of a holder was suspended: its lease ran out, another run took over, and then it wakes.
test(`a run stopped at ${stops} random moments for longer than its lease spoils nothing when it wakes`, async () => {
  const scene = await aScene();
  const codes = new Map<number | null, number>();
  for (let stop = 0; stop < stops; stop++) {
    const project = scene.copy();
    const sleeper = project.start(["up", "--json"]);
    await begun(sleeper);
    await pause(scene.duration * Math.random());
    sleeper.process.kill("SIGSTOP");
    const other = project.start(["up"]);
    // Half of them wake while the other run is still at it.
    const wakes = stop % 2 === 0 ? other.finished : pause(1_300 + scene.duration * Math.random());
    await wakes;
    sleeper.process.kill("SIGCONT");
    const [slept, took] = await Promise.all([sleeper.finished, other.finished]);
    expect(took, took.stderr).toMatchObject({ code: 0 });
    // Done before it was stopped, or the lease is lost.
    expect([0, 5], slept.stderr + slept.stdout).toContain(slept.code);
    codes.set(slept.code, (codes.get(slept.code) ?? 0) + 1);
    await scene.requireRight(project);
  }
  console.log(`the sleeper ended with: ${[...codes].map(([code, times]) => `${code} (${times})`).join(", ")}`);
}, 900_000);

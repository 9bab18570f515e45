import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { guardColumn } from "../../src/actions/rewrite/append-guard.ts";
import { leaping, type Project } from "../support/project.ts";
import { ofThisTurn, rounds } from "../support/rounds.ts";
import { drawnChance } from "../support/kill-moments.ts";
import { lancedb } from "../support/tables.ts";
import { aScene, key, printed } from "./scene.ts";

/**
 * A service has no fence, so the column with which a retype keeps appends out may come late. The run that sent it has said
 * that it acted late, and the next one names the column, which is then to be dropped.
 */
async function removeLateGuard({ database, migrate }: Project): Promise<void> {
  const table = await (await lancedb.connect(database)).openTable("big");
  const guard = guardColumn.name;
  if (!(await table.schema()).fields.some(({ name }) => name === guard)) return;
  expect((await migrate(["up"], key)).stderr).toContain(
    `column ${guard} (int8 not null) was not expected; a run that was suspended has added ${guard} late, ` +
      "and the table refuses appends while it is there; drop this column, then run it again",
  );
  await table.dropColumns([guard]);
}

/** For each commit the embedded engine and a service without fences, or the other kind of service. */
const ways = ofThisTurn(
  [
    { way: "embedded", first: 0, stops: rounds(1, 12) },
    { way: "namespace", first: 1, stops: rounds(1, 6) },
    { way: "service", first: 0, stops: rounds(1, 6) },
  ] as const,
  2,
);

// The machine of a holder was suspended: its lease ran out, another run took over, and then it wakes.
test.each(ways)(
  "a run stopped at $stops random moments for longer than its lease spoils nothing when it wakes ($way)",
  async ({ way, stops, first }) => {
    const scene = await aScene(way);
    const { chance, words } = drawnChance();
    const codes = new Map<number | null, number>();
    for (let stop = 0; stop < stops; stop++) {
      const project = await scene.copy();
      const env = { ...key, ...leaping() };
      const sleeper = project.start(["up", "--json"], env);
      await printed(sleeper, '"planned"');
      await pause(scene.duration * chance.next());
      sleeper.process.kill("SIGSTOP");
      const other = project.start(["up", "--json"], env);
      // Half of them wake while the other run is still at it.
      if ((first + stop) % 2 === 0) await other.finished;
      else await printed(other, '"takenOver"').then(() => pause(scene.duration * chance.next()));
      sleeper.process.kill("SIGCONT");
      const [slept, took] = await Promise.all([sleeper.finished, other.finished]);
      expect(took, `${words}\n${took.stderr}`).toMatchObject({ code: 0 });
      // Done before it was stopped, or the lease is lost.
      const actedLate = slept.code === 1 && slept.stdout.includes('"code":"ERR_ACTED_LATE"');
      if (!actedLate) expect([0, 5], `${words}\n${slept.stderr}${slept.stdout}`).toContain(slept.code);
      codes.set(slept.code, (codes.get(slept.code) ?? 0) + 1);
      if (actedLate && way !== "embedded") await removeLateGuard(project);
      await scene.requireRight(project).catch((error: unknown) => {
        throw new Error(`not right, ${words}`, { cause: error });
      });
    }
    console.log(
      `${way}: the sleeper ended with: ${[...codes].map(([code, times]) => `${code} (${times})`).join(", ")}`,
    );
  },
);

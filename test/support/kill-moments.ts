/** When processes are killed, and where that found them. */
import { expect, onTestFailed } from "vitest";
import { chanceOf, type Chance } from "../simulate/seeded-random.ts";
import { preloading, type Project } from "./project.ts";
import { rowsOf } from "./tables.ts";

/** After this many lines of a run's output, and then this share of what a line has taken until then, but before the next line. */
export interface Moment {
  readonly lines: number;
  readonly share: number;
}

/** Chance of a test that can be run with it again, and the words that say how, which a failed test prints. */
export function drawnChance(): { readonly chance: Chance; readonly words: string } {
  const seed = Number(process.env["MIGRATE_SEED"] ?? Math.floor(Math.random() * 1e9));
  const words = `the same moments: MIGRATE_SEED=${seed}`;
  onTestFailed(() => console.log(words));
  return { chance: chanceOf(seed), words };
}

/** Moments spread over all of a run of this many lines. MIGRATE_SEED draws the same ones again. */
export function killMoments(kills: number, lines: number) {
  const { chance, words: again } = drawnChance();
  const moments = Array.from({ length: kills }, (_, index): Moment => {
    const at = ((index + chance.next()) / kills) * (lines - 1);
    return { lines: 1 + Math.floor(at), share: chance.next() };
  });
  const words = ({ lines, share }: Moment) =>
    `killed ${share.toFixed(3)} of a line's time after line ${lines}; ${again}`;
  return { moments, words };
}

/** Runs a command until it is killed at that moment. */
export async function killAt(project: Pick<Project, "start">, args: readonly string[], moment: Moment): Promise<void> {
  const { process, finished } = project.start(args, { ...preloading("dying.ts"), DIES_AT: JSON.stringify(moment) });
  const { stdout, stderr } = await finished;
  expect(process.signalCode, stdout + stderr).toBe("SIGKILL");
}

/** The event and the migration of the newest record of a ledger. */
export async function newestRecord(database: string): Promise<string> {
  const records = await rowsOf(database, "_migrations");
  const last = records
    .toSorted((one, other) => Number(one.epoch) - Number(other.epoch) || Number(one.number) - Number(other.number))
    .at(-1);
  return `${String(last?.event)} ${String(last?.version ?? "")}`.trim();
}

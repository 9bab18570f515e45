/** When processes are killed, and where that found them. */
import { setTimeout as pause } from "node:timers/promises";
import { onTestFailed } from "vitest";
import { chanceOf, type Chance } from "../simulate/seeded-random.ts";
import type { Running } from "./project.ts";
import { rowsOf } from "./tables.ts";

/** After so many lines of a run's output, and then so many milliseconds. */
export interface Moment {
  readonly lines: number;
  readonly milliseconds: number;
}

/** Chance of a test that can be run with it again, and the words that say how, which a failed test prints. */
export function drawnChance(): { readonly chance: Chance; readonly words: string } {
  const seed = Number(process.env["MIGRATE_SEED"] ?? Math.floor(Math.random() * 1e9));
  const words = `the same moments: MIGRATE_SEED=${seed}`;
  onTestFailed(() => console.log(words));
  return { chance: chanceOf(seed), words };
}

/**
 * Moments spread over all of a run that nobody disturbed: so many lines long, in so many milliseconds. MIGRATE_SEED draws the same ones
 * again.
 */
export function killMoments(kills: number, lines: number, duration: number) {
  const { chance, words: again } = drawnChance();
  const moments = Array.from({ length: kills }, (_, index): Moment => {
    const at = ((index + chance.next()) / kills) * (lines - 1);
    return { lines: 1 + Math.floor(at), milliseconds: (duration / lines) * chance.next() };
  });
  const words = ({ lines, milliseconds }: Moment) =>
    `killed ${Math.round(milliseconds)} ms after line ${lines}; ${again}`;
  return { moments, words };
}

/** Whether the process was killed, and had not ended before. */
export async function killAt({ process, finished }: Running, { lines, milliseconds }: Moment): Promise<boolean> {
  let heard = 0;
  const isThere = new Promise<void>((resolve) => {
    process.stdout?.on("data", (text: string) => {
      heard += text.split("\n").length - 1;
      if (heard >= lines) resolve();
    });
    process.on("close", () => resolve());
  });
  await isThere;
  if (process.exitCode === null) await pause(milliseconds);
  process.kill("SIGKILL");
  await finished;
  return process.signalCode === "SIGKILL";
}

/** The event and the migration of the newest record of a ledger. */
export async function newestRecord(database: string): Promise<string> {
  const records = await rowsOf(database, "_migrations");
  const last = records
    .toSorted((one, other) => Number(one.epoch) - Number(other.epoch) || Number(one.number) - Number(other.number))
    .at(-1);
  return `${String(last?.event)} ${String(last?.version ?? "")}`.trim();
}

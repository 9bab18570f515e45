/** Many random histories, several at a time: the engine works in threads of its own. */
import { startBeside } from "./beside.ts";
import { runHistory } from "./history.ts";
import type { Counts, Where } from "./scene.ts";

export interface Progress {
  /** The seed of the next history. */
  next: number;
  readonly counts: Counts;
  /** What went wrong, with the seed. */
  readonly violations: { readonly seed: number; readonly words: string }[];
}

/** Runs histories until the one of the seed `end`, `atATime` of them together; what is in progress is `isDone` after each. */
export async function checkHistories(
  progress: Progress,
  end: number,
  where: Where,
  atATime: number,
  isDone: (progress: Progress) => void = () => {},
): Promise<void> {
  const beside = startBeside();
  const underWay = new Set<number>();
  let next = progress.next;
  const one = async () => {
    while (next < end) {
      const seed = next++;
      underWay.add(seed);
      const counts: Counts = new Map();
      try {
        await runHistory(seed, where, beside.application(seed), counts);
      } catch (error) {
        progress.violations.push({ seed, words: `${(error as Error).message}\n\n${commandFor(seed, where)}` });
      }
      for (const [what, count] of counts) progress.counts.set(what, (progress.counts.get(what) ?? 0) + count);
      underWay.delete(seed);
      progress.next = Math.min(next, ...underWay);
      isDone(progress);
    }
  };
  await Promise.all(Array.from({ length: atATime }, one));
  await beside.close();
}

/** What an application does meanwhile comes at other moments each time, so a few tries may be needed. */
function commandFor(seed: number, where: Where): string {
  return `npm run histories -- --first ${seed} --histories 1 --target ${where}`;
}

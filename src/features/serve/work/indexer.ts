/** A worker of its own that brings indexes up to date, so that it takes no place from requests. */
import { openTables } from "../tables/open-tables.ts";
import { cover, type CoverOutcome } from "./cover.ts";
import { causeOf, endPool, limitTime, sendJob, startPool, type PoolOptions } from "./pool.ts";

export interface Indexer {
  /** Indexes that cover a smaller share of the rows than `1 - leastUncovered` get the others. */
  cover(table: string, leastUncovered: number): Covering;
  close(): Promise<void>;
}

interface Covering {
  /** Never rejects. */
  readonly outcome: Promise<CoverOutcome>;
  /** Ends the work wherever it is: a commit is made completely or not at all. */
  stop(): void;
}

export function startIndexer(options: PoolOptions): Indexer {
  if (options.workers === 0) return coverHere(options);
  const pool = startPool(options, { minWorkers: 0, maxWorkers: 1 });
  return {
    cover(table, leastUncovered) {
      const time = limitTime(options.workTimeout);
      const failed = (error: unknown): CoverOutcome => {
        const seconds = options.workTimeout / 1_000;
        const reason = time.isOver() ? `it was given up after ${seconds} seconds` : causeOf(error);
        return { reason, isConflict: false };
      };
      const work = sendJob<CoverOutcome>(pool, "cover", [table, leastUncovered], time.begin, () => true);
      return { outcome: work.catch(failed).finally(time.end), stop: time.kill };
    },
    close: () => endPool(pool),
  };
}

/** In this process, where nothing can be cut off. */
function coverHere({ data }: PoolOptions): Indexer {
  const tables = openTables(data.path);
  return {
    cover: (table, leastUncovered) => ({
      outcome: cover(table, leastUncovered, data, () => tables),
      stop: () => {},
    }),
    close: async () => (await tables).close(),
  };
}

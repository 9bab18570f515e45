/** Many pieces of work, a few at a time. */
export async function limited(most: number, work: readonly (() => Promise<void>)[]): Promise<void> {
  const left = work.values();
  await Promise.all(
    Array.from({ length: most }, async () => {
      for (const one of left) await one();
    }),
  );
}

/** So many slots; each piece of work waits for one. */
export function slots(free: number) {
  const waiting: (() => void)[] = [];
  return async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (free > 0) free--;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free++;
      else next();
    }
  };
}

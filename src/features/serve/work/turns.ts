/** Takes turns between clients that have more to do than there are places: one with many requests delays itself first. */

export type Turns = <Result>(client: string, work: () => Promise<Result>) => Promise<Result>;

/** At most `places` at a time are at work. The clients that wait come in turn, each with its oldest work. */
export function createTurns(places: number): Turns {
  const waiting = new Map<string, (() => void)[]>();
  let free = places;
  const enter = async (client: string) => {
    if (free > 0) return void free--;
    const { promise, resolve } = Promise.withResolvers<void>();
    const queue = waiting.get(client) ?? [];
    queue.push(resolve);
    waiting.set(client, queue);
    await promise;
  };
  const leave = () => {
    const [client, queue] = waiting.entries().next().value ?? [];
    if (client === undefined || queue === undefined) return void free++;
    waiting.delete(client);
    queue.shift()!();
    // At the end: the others come first.
    if (queue.length > 0) waiting.set(client, queue);
  };
  return async (client, work) => {
    await enter(client);
    try {
      return await work();
    } finally {
      leave();
    }
  };
}

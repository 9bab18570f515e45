/** When work runs that several callers ask for. Pure. */

/** Runs work in the order of the calls. */
export function oneAfterTheOther(): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let last: Promise<void> = Promise.resolve();
  return (work) => {
    const done = last.then(work);
    const ended = () => {};
    last = done.then(ended, ended);
    return done;
  };
}

/** The work, of which a further call waits for the same end while it is under way. */
export function onceAtATime(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  return () =>
    (running ??= work().finally(() => {
      running = undefined;
    }));
}

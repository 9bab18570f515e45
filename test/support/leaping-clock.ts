/**
 * Loaded before a command with --import, or by a process that runs several: the steady clock of a run that waits for the lease
 * of another one leaps over that lease, once. So nobody waits in tests, and leases may be so long that no busy machine keeps
 * a run from renewing its own. Processes with one file LEAPING_CLOCK have one clock.
 */
import { readFileSync, writeFileSync } from "node:fs";

const { bigint } = process.hrtime;
/** Nanoseconds: longer than the lease of a project that sets none. */
const leap = 60_000_000_000n;

const leapt = (file: string) => BigInt(readFileSync(file, "utf8"));

process.hrtime.bigint = () =>
  bigint() + (process.env["LEAPING_CLOCK"] === undefined ? 0n : leapt(process.env["LEAPING_CLOCK"]));
if (process.env["LEAPING_CLOCK"] !== undefined) leapOnceWaiting(process.env["LEAPING_CLOCK"]);

/** Watches what the process prints. */
export function leapOnceWaiting(file: string): void {
  for (const stream of [process.stdout, process.stderr]) {
    const write = stream.write.bind(stream);
    stream.write = ((text: string | Uint8Array, ...rest: []) => {
      // The wait begins in the same turn.
      if (/"event":"waiting"|waiting for .* which holds the lease/.test(String(text)))
        setImmediate(() => leapt(file) === 0n && writeFileSync(file, String(leap)));
      return write(text, ...rest);
    }) as typeof stream.write;
  }
}

/** Renames files and folders. */
import { renameSync } from "node:fs";

/** Milliseconds between the tries, 1.3 seconds in all. */
const pauses = [10, 20, 40, 80, 160, 320, 640];

/**
 * Renames a file or a folder. Windows refuses that while another program has a file of it open: a virus scanner or an
 * indexer does so for moments with each new file.
 */
export function move(from: string, to: string, rename = renameSync, windows = process.platform === "win32"): void {
  for (const pause of windows ? pauses : []) {
    try {
      return rename(from, to);
    } catch (error) {
      if (!["EPERM", "EACCES", "EBUSY"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pause);
    }
  }
  rename(from, to);
}

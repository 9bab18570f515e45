/** A small file system of its own, which can be full or read-only. */
import { execFileSync } from "node:child_process";
import { rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";

export interface SmallDisk {
  /** Leaves so many bytes free. */
  fill(free: number): void;
  /** Gives the space back. */
  empty(): void;
  readOnly(): void;
}

/** Mounts a tmpfs over a folder until the test has finished; in words why it can't. */
export function mountSmallDisk(folder: string, megabytes: number): SmallDisk | string {
  const filler = join(folder, "filler");
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", folder], { stdio: "pipe" });
  } catch (error) {
    return `no tmpfs can be mounted here: ${String((error as { stderr?: Buffer }).stderr ?? error).trim()}`;
  }
  onTestFinished(() => void execFileSync("umount", ["--lazy", folder]));
  return {
    fill(free) {
      rmSync(filler, { force: true });
      const { bavail, bsize } = statfsSync(folder);
      writeFileSync(filler, Buffer.alloc(Math.max(0, bavail * bsize - free)));
    },
    empty: () => rmSync(filler, { force: true }),
    readOnly: () => void execFileSync("mount", ["-o", "remount,ro", folder]),
  };
}

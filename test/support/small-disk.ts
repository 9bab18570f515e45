/** A small file system of its own, which can be full or read-only. */
import { execFileSync } from "node:child_process";
import { rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished, type TestContext } from "vitest";
import { lacks } from "./needs.ts";

export interface SmallDisk {
  /** Leaves so many bytes free. */
  fill(free: number): void;
  /** Gives the space back. */
  empty(): void;
  readOnly(): void;
}

/** Mounts a tmpfs over a folder until the test has finished, which is skipped where that is not possible. */
export function mountSmallDisk({ skip }: TestContext, folder: string, megabytes: number): SmallDisk {
  const filler = join(folder, "filler");
  try {
    asRoot("mount", "-t", "tmpfs", "-o", `size=${megabytes}m,mode=1777`, "tmpfs", folder);
  } catch (error) {
    const why = `no tmpfs can be mounted here: ${String((error as { stderr?: Buffer }).stderr ?? error).trim()}`;
    if (lacks("disk", why)) skip(why);
  }
  onTestFinished(() => asRoot("umount", "--lazy", folder));
  return {
    fill(free) {
      rmSync(filler, { force: true });
      const { bavail, bsize } = statfsSync(folder);
      writeFileSync(filler, Buffer.alloc(Math.max(0, bavail * bsize - free)));
    },
    empty: () => rmSync(filler, { force: true }),
    readOnly: () => asRoot("mount", "-o", "remount,ro", folder),
  };
}

function asRoot(...command: readonly string[]): void {
  const [program, ...args] = process.getuid?.() === 0 ? command : ["sudo", "--non-interactive", ...command];
  execFileSync(program!, args, { stdio: "pipe" });
}

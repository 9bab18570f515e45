/**
 * Which process it is, so that another process of the same machine can tell that it is gone. Names of machines are no help:
 * containers may share them. Linux only.
 */
import { readFileSync, readlinkSync } from "node:fs";

/** The machine since its start, and the process numbers that are valid together; the process, and when it began. */
interface ProcessIdentity {
  readonly boot: string;
  readonly namespace: string;
  readonly pid: number;
  readonly start: string;
}

const separator = " of ";

/** The id of a run, with the process that it is if that is known. */
export function withProcess(run: string): string {
  const own = identityOf(process.pid);
  return own === undefined ? run : [run, own.boot, own.namespace, own.pid, own.start].join(separator);
}

/** Whether the process of such an id was one of this machine and is gone. False if that can't be known. */
export function isGone(run: string): boolean {
  const [, boot, namespace, pid, start] = run.split(separator);
  const own = identityOf(process.pid);
  if (start === undefined || own === undefined || own.boot !== boot || own.namespace !== namespace) return false;
  try {
    process.kill(Number(pid), 0);
  } catch (error) {
    // Not that of another user.
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return true;
  }
  const now = identityOf(Number(pid));
  // A newer process may have the same number.
  return now !== undefined && now.start !== start;
}

function identityOf(pid: number): ProcessIdentity | undefined {
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name of the program, in parentheses, may hold spaces.
    const start = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]!;
    return { boot, namespace: readlinkSync("/proc/self/ns/pid"), pid, start };
  } catch {
    return undefined;
  }
}

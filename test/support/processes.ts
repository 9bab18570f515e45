/** What Linux knows of processes. Without /proc, nothing is known. */
import { readFileSync } from "node:fs";

export function childrenOf(pid: number): readonly number[] {
  return procFile(`${pid}/task/${pid}/children`).split(" ").filter(Boolean).map(Number);
}

/** In bytes. */
export function residentMemory(pid: number): number | undefined {
  const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(procFile(`${pid}/status`))?.[1];
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
}

/** Milliseconds for which a process has worked: the system counts hundredths of a second. */
export function processorTime(pid: number): number {
  // The name of the program, in parentheses, may have spaces.
  const fields = procFile(`${pid}/stat`)
    .replace(/^.*\) /, "")
    .split(" ");
  return 10 * (Number(fields[11] ?? 0) + Number(fields[12] ?? 0));
}

/** Empty if the process has ended, or if there is no /proc. */
function procFile(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, "utf8");
  } catch {
    return "";
  }
}

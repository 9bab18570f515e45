/** Runs a script as a process of its own and measures it. */
import { spawnSync } from "node:child_process";

export interface Measured {
  /** Milliseconds. */
  readonly wall: number;
  /** Milliseconds of processor time, in all threads. */
  readonly cpu: number;
  /** The peak of the resident set, in MB. */
  readonly peak: number;
  readonly code: number | null;
  readonly stderr: string;
}

/**
 * The process itself reports at its end what the kernel has counted. On Linux, `maxRSS` is at least what the process that
 * started it held then.
 */
const reportAtExit = `import { readFileSync } from "node:fs";
const peak = () => process.platform === "linux"
  ? /VmHWM:\\s*(\\d+)/.exec(readFileSync("/proc/self/status", "utf8"))[1]
  : process.resourceUsage().maxRSS;
process.on("exit", () => {
  const { user, system } = process.cpuUsage();
  process.stderr.write("\\nused " + (user + system) + " " + peak() + "\\n");
});`;

export function measure(args: readonly string[], cwd: string): Measured {
  const report = `data:text/javascript,${encodeURIComponent(reportAtExit)}`;
  const started = performance.now();
  const { status, stderr } = spawnSync(process.execPath, ["--import", report, ...args], {
    cwd,
    encoding: "utf8",
    env: { ...process.env, http_proxy: "", HTTP_PROXY: "" },
    maxBuffer: 2 ** 30,
  });
  const wall = performance.now() - started;
  const [, cpu, peak] = /^used (\d+) (\d+)$/m.exec(stderr) ?? [];
  return { wall, cpu: Number(cpu) / 1000, peak: Number(peak) / 1024, code: status, stderr };
}

export function median(numbers: readonly number[]): number {
  return numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}

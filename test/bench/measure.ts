/** Runs processes and measures them. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";

export interface Measured {
  /** Milliseconds. */
  readonly wall: number;
  /** Milliseconds of processor time, in all threads. */
  readonly cpu: number;
  /** The peak of the resident set, in MB. */
  readonly peak: number;
  readonly code: number | null;
  readonly stdout: string;
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

/** Runs a script with Node. */
export function measure(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv = {}): Measured {
  const report = `data:text/javascript,${encodeURIComponent(reportAtExit)}`;
  const started = performance.now();
  const { status, stdout, stderr } = spawnSync(process.execPath, ["--import", report, ...args], {
    cwd,
    encoding: "utf8",
    env: { ...process.env, http_proxy: "", HTTP_PROXY: "", ...env },
    maxBuffer: 2 ** 30,
  });
  const wall = performance.now() - started;
  const [, cpu, peak] = /^used (\d+) (\d+)$/m.exec(stderr) ?? [];
  return { wall, cpu: Number(cpu) / 1000, peak: Number(peak) / 1024, code: status, stdout, stderr };
}

/** As `measure`; throws if the script fails. */
export function measureSuccess(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv = {}): Measured {
  const measured = measure(args, cwd, env);
  if (measured.code !== 0)
    throw new Error(`${args.join(" ")} ended with ${measured.code}: ${measured.stdout}${measured.stderr}`);
  return measured;
}

/** The milliseconds that a script takes, of which nothing but its end is observed; throws if it fails. */
export function timeOf(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv = {}): number {
  const started = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, { cwd, env: { ...process.env, ...env } });
  const wall = performance.now() - started;
  if (status !== 0) throw new Error(`${args.join(" ")} ended with ${status}: ${String(stderr)}`);
  return wall;
}

/** What a process and those that it has started have used; needs Linux. */
export interface Used {
  /** Seconds. */
  readonly cpu: number;
  /** MB that they have asked the kernel to read and to write (`rchar` and `wchar`), which no disk and no cache changes. */
  readonly read: number;
  readonly written: number;
}

/** Runs a program, and calls `sample` with its process now and then; throws if it fails. */
export async function measureTree(
  [program, ...args]: readonly string[],
  options: { readonly cwd: string; readonly env?: NodeJS.ProcessEnv; readonly every: number },
  sample: (pid: number) => void,
): Promise<Used> {
  const { cwd, env, every } = options;
  const before = usedByChildren();
  const child = spawn(program!, args, {
    cwd,
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, LANCE_LOG: "error", ...env },
  });
  const timer = setInterval(() => sample(child.pid!), every);
  const [code] = (await once(child, "close")) as [number | null];
  clearInterval(timer);
  if (code !== 0) throw new Error(`${args.join(" ")} ended with ${code}`);
  const after = usedByChildren();
  return { cpu: after.cpu - before.cpu, read: after.read - before.read, written: after.written - before.written };
}

/** Of those that have ended. */
function usedByChildren(): Used {
  // The name of the program, in parentheses, may have spaces.
  const fields = readFileSync("/proc/self/stat", "utf8").split(") ")[1]!.split(" ");
  const io = readFileSync("/proc/self/io", "utf8");
  const megabytes = (name: string) => Number(new RegExp(`${name}: (\\d+)`).exec(io)![1]) / 1e6;
  return {
    cpu: (Number(fields[13]) + Number(fields[14])) / 100,
    read: megabytes("rchar"),
    written: megabytes("wchar"),
  };
}

export function median(numbers: readonly number[]): number {
  return numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}

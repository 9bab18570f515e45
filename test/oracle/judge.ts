/** pyarrow and pylance as judges of values, in a process of their own. */
import { spawn } from "node:child_process";
import type { Socket } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { RowValue, RowValues } from "../../src/schema/row-values.ts";
import { officialPackages, pythonWith } from "../clients/client.ts";
import { root } from "../support/project.ts";

export interface Asked extends AsyncDisposable {
  /** The answer of the script to a task. */
  ask(task: object): Promise<unknown>;
}

export interface Judge extends AsyncDisposable {
  /** The first difference between what a table's folder or Arrow IPC data holds and these rows; null if there is none. */
  difference(place: string, rows: readonly RowValues[]): Promise<string | null>;
  /** Writes drawn rows of all types to a file. */
  write(file: string, seed: number): Promise<void>;
}

/** By name of a script: its process answers all tests of a worker, since pyarrow and pylance start slowly. */
const running = new Map<string, Pick<Asked, "ask">>();

/** A script of this folder that answers each line of JSON with a line of JSON. It ends with this process. */
export function startScript(name: string): Asked {
  const { ask } = running.get(name) ?? start(name);
  return { ask, [Symbol.asyncDispose]: async () => {} };
}

function start(name: string): Pick<Asked, "ask"> {
  const script = join(root, "test/oracle", name);
  const child = spawn(pythonWith(...officialPackages), [script], { stdio: ["pipe", "pipe", "inherit"] });
  const handles = [child, child.stdin as Socket, child.stdout as Socket];
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const one = {
    async ask(task: object) {
      // Only who waits for an answer is kept from ending.
      for (const handle of handles) handle.ref();
      child.stdin.write(`${JSON.stringify(task, withoutLoss)}\n`);
      const { value, done } = await lines.next();
      for (const handle of handles) handle.unref();
      if (done === true) running.delete(name);
      if (done === true) throw new Error(`${name} has ended`);
      return JSON.parse(value as string) as unknown;
    },
  };
  running.set(name, one);
  return one;
}

export function startJudge(): Judge {
  const script = startScript("compare.py");
  return {
    difference: async (place, rows) => (await script.ask({ place, rows })) as string | null,
    write: async (file, seed) => void (await script.ask({ write: file, seed })),
    [Symbol.asyncDispose]: script[Symbol.asyncDispose],
  };
}

/** JSON has no bytes, and not all floats. */
function withoutLoss(this: object, key: string, value: unknown): unknown {
  const given = (this as Record<string, RowValue>)[key] as unknown;
  if (given instanceof Uint8Array) return { hex: Buffer.from(given).toString("hex") };
  if (given instanceof Float32Array) return [...given];
  if (typeof value === "number" && !Number.isFinite(value)) return String(value);
  // JSON writes it as 0.
  return Object.is(value, -0) ? "-0.0" : value;
}

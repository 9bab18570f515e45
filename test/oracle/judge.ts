/** pyarrow as a judge of values, in a process of its own. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { RowValue, RowValues } from "../../src/schema/row-values.ts";
import { officialPackages, pythonWith } from "../clients/client.ts";
import { root } from "../support/project.ts";

export interface Judge extends AsyncDisposable {
  /** The first difference between what a table's folder or Arrow IPC data holds and these rows; null if there is none. */
  difference(place: string, rows: readonly RowValues[]): Promise<string | null>;
  /** Writes drawn rows of all types to a file. */
  write(file: string, seed: number): Promise<void>;
}

export function startJudge(): Judge {
  const script = join(root, "test/oracle/compare.py");
  const child = spawn(pythonWith(...officialPackages), [script], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ask = async (task: object): Promise<unknown> => {
    child.stdin.write(`${JSON.stringify(task, withoutLoss)}\n`);
    const { value, done } = await lines.next();
    if (done === true) throw new Error("the judge has ended");
    return JSON.parse(value as string);
  };
  return {
    difference: async (place, rows) => (await ask({ place, rows })) as string | null,
    write: async (file, seed) => void (await ask({ write: file, seed })),
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await new Promise((ended) => child.once("close", ended));
    },
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

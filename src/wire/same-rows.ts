/** Whether two Arrow IPC files hold the same rows, in whatever batches. */
import { tableFromIPC } from "apache-arrow";

/** Undefined where one holds a type that apache-arrow can't read. */
export function haveSameRows(one: Buffer, other: Buffer): boolean | undefined {
  if (one.equals(other)) return true;
  try {
    return textOf(one) === textOf(other);
  } catch {
    return undefined;
  }
}

function textOf(file: Buffer): string {
  const plain = (_: string, value: unknown) => (typeof value === "bigint" ? `${value}` : value);
  return JSON.stringify(tableFromIPC(file).toArray(), plain);
}

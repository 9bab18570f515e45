/**
 * Two embedding models of benchmarks, by the length of their vectors. As a module of a migration it is the new one, which waits as for a service:
 * as many milliseconds for each call as the variable MODEL_WAIT states.
 */
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

export const oldLength = 32;
export const newLength = 48;

/** Whole numbers, which a float32 holds, that depend on the text and the length. */
export function vectorOf(text: string, length: number): number[] {
  return [...createHash("shake256", { outputLength: length }).update(text).digest()];
}

export default async function embed(rows: readonly { readonly text: string }[]): Promise<number[][]> {
  await sleep(Number(process.env["MODEL_WAIT"] ?? 20));
  return rows.map(({ text }) => vectorOf(text, newLength));
}

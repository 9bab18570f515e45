import { createHash } from "node:crypto";

/** Four numbers that differ for different texts, and that a float32 holds. */
export function vectorOf(text: string): readonly number[] {
  return [...createHash("sha256").update(text).digest().subarray(0, 4)];
}

/** Those of an older model, which are shorter. */
export function oldVectorOf(text: string): readonly number[] {
  return vectorOf(text).slice(0, 2);
}

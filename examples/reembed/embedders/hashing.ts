/** The old model: each word counts in one of 64 dimensions. It finds texts that have words in common. */
import { unitVector, wordsIn } from "./text.ts";

export default function embed(rows: readonly { readonly definition: string }[]): number[][] {
  return rows.map(({ definition }) => {
    const sum = Array.from({ length: 64 }, () => 0);
    for (const word of wordsIn(definition)) sum[hash(word) % 64]! += 1;
    return unitVector(sum);
  });
}

/** FNV-1a. */
function hash(word: string): number {
  let value = 0x811c9dc5;
  for (const byte of Buffer.from(word)) value = Math.imul(value ^ byte, 0x01000193) >>> 0;
  return value;
}

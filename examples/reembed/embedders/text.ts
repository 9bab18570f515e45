/** What both models do with texts. */

export function wordsIn(text: string): readonly string[] {
  return text.toLowerCase().match(/[a-z]+/g) ?? [];
}

/** A text without known words has no direction: its vector stays zero. */
export function unitVector(sum: readonly number[]): number[] {
  const length = Math.hypot(...sum);
  return sum.map((value) => (length === 0 ? 0 : value / length));
}

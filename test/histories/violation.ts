/** What must never happen, in words. Pure. */
export function violation(words: string, problems: readonly string[] = []): Error {
  return new Error([words, ...problems].join("\n  "));
}

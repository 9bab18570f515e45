/** Finds names in text that is not parsed, such as SQL and source code. Pure. */

/** Whether a text contains a name as a whole word. */
export function hasWord(text: string, word: string, flags: "u" | "iu" = "u"): boolean {
  return new RegExp(`(?<![\\p{L}\\p{N}_])${escapePattern(word)}(?![\\p{L}\\p{N}_])`, flags).test(text);
}

/** The text as a regular expression that matches nothing else. */
export function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

/** Editors on Windows begin texts with a byte order mark, which neither JSON nor a hash of the text may see. */
export function withoutMark(text: string): string {
  return text.startsWith("\uFEFF") ? text.slice(1) : text;
}

/** Markdown that scripts write. */

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => "---"), ...rows.map((row) => row.map(cell))];
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}

const begin = (name: string) => `<!-- generated: ${name} (npm run reference) -->`;
const end = "<!-- end of the generated part -->";

/** The page with a new generated part of this name. */
export function withPart(page: string, name: string, part: string): string {
  const [before, rest, ...more] = page.split(begin(name));
  const [, ...after] = (rest ?? "").split(end);
  if (rest === undefined || more.length > 0 || after.length === 0) throw new Error(`there is no place for ${name}`);
  return `${before}${begin(name)}\n\n${part}\n\n${end}${after.join(end)}`;
}

/** The words as a sentence. */
export function sentence(words: string): string {
  return `${words[0]!.toUpperCase()}${words.slice(1)}.`;
}

/** Parts of Markdown, as GitHub and GitLab render it. Text from elsewhere is shown as it is, whatever it contains. */
import { printable } from "../../cli/command/printable.ts";

/** What a code span in a table could not contain. */
const unspannable = ["`", "|", "\\"];
/** Outside of code, these make links, mention people or refer to issues, even if they are escaped. */
const linking = ["@", "#", "!", "://", "www."];

export function code(text: string): string {
  const shown = printable(text);
  const isPlain = shown.trim() === shown && shown !== "" && !unspannable.some((one) => shown.includes(one));
  return isPlain
    ? `\`${shown}\``
    : `<code>${shown.replaceAll(/[^a-z0-9]/giu, (one) => `&#${one.codePointAt(0)!};`)}</code>`;
}

/** Words, some of which may be names. Becomes code if they could link to something. */
export function prose(text: string): string {
  const shown = printable(text);
  return linking.some((one) => shown.includes(one)) ? code(shown) : shown.replaceAll(/[\\|<>[\]*_~`&$]/g, "\\$&");
}

/** A block of code. No line can end it. */
export function fenced(lines: readonly string[]): readonly string[] {
  const shown = lines.map(printable);
  let fence = "```";
  while (shown.some((line) => line.includes(fence))) fence += "`";
  return [`${fence}text`, ...shown, fence];
}

export function tableRow(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

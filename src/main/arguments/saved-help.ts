/** The help that the build has written, because making it takes longer than a run with nothing pending. */
import { readFileSync } from "node:fs";
import packageJson from "../../../package.json" with { type: "json" };

/** Help by command; that of `migrate` itself under the empty name. */
export type SavedHelp = Readonly<Record<string, string>>;

/** The columns of lines in help, unless the terminal has fewer. */
export const helpColumns = 80;

/** What is printed for words that ask for help or the version, or for none; undefined for all others. */
export async function helpFor(args: readonly string[]): Promise<string | undefined> {
  const end = args.indexOf("--");
  const words = end === -1 ? args : args.slice(0, end);
  const asksHelp = words.length === 0 || words[0] === "help" || words.some((word) => /^(--help|-h)$/.test(word));
  if (!asksHelp) return words.some((word) => /^(--version|-V)$/.test(word)) ? `${packageJson.version}\n` : undefined;
  const columns = Math.min(process.stdout.columns ?? helpColumns, helpColumns);
  const texts = columns < helpColumns ? {} : readTexts();
  const name = words.find((word) => Object.hasOwn(texts, word)) ?? "";
  return texts[name] ?? (await (await import("./help.ts")).helpAbout(words, columns));
}

function readTexts(): SavedHelp {
  try {
    return JSON.parse(readFileSync(new URL("help.json", import.meta.url), "utf8")) as SavedHelp;
  } catch {
    // Tests run the sources, which are not built.
    return {};
  }
}

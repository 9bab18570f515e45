/** The help that the build has written, because making it takes longer than a run with nothing pending. */
import { readFileSync } from "node:fs";
import packageJson from "../../../package.json" with { type: "json" };

/** Help by command; that of `migrate` itself under the empty name. */
export type SavedHelp = Readonly<Record<string, string>>;

/** The columns of lines in help, unless the terminal has fewer. */
const usualColumns = 80;

/** What is printed for words that ask only for help or the version; undefined if yargs has to answer. */
export function savedHelp(args: readonly string[]): string | undefined {
  const [last = ""] = args.slice(-1);
  if (args.length === 1 && /^(--version|-V)$/.test(last)) return `${packageJson.version}\n`;
  const isHelp = args.length <= 2 && /^(--help|-h)$/.test(last);
  if (!isHelp || (process.stdout.columns ?? usualColumns) < usualColumns) return undefined;
  const name = args.length === 2 ? args[0]! : "";
  const texts = readTexts();
  return Object.hasOwn(texts, name) ? texts[name] : undefined;
}

function readTexts(): SavedHelp {
  try {
    return JSON.parse(readFileSync(new URL("help.json", import.meta.url), "utf8")) as SavedHelp;
  } catch {
    // Tests run the sources, which are not built.
    return {};
  }
}

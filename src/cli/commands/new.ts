import { resolve } from "node:path";
import { z } from "zod";
import { loadConfig } from "../../config.ts";
import { commonSchema, parseFlags, type Command } from "../command.ts";
import { done } from "../exit-code.ts";

const newFlags = commonSchema.extend({ name: z.string("the name is given twice or missing") });

export const newCommand: Command = {
  usage: "new <name>",
  describe: "write the next migration file from templates/",
  flags: (cli) => cli.positional("name", { type: "string", describe: "what it does, such as add_headlines" }),
  async run({ flags, output, underWay }) {
    const { name, config: path, "load-timeout": loadSeconds } = parseFlags(newFlags, flags);
    const config = await loadConfig(process.cwd(), path, loadSeconds);
    // ts-morph is slow to load and only this command writes TypeScript.
    const { createMigration } = await import("../../scaffold/create-migration.ts");
    underWay(true);
    const file = await createMigration({
      folder: config.folder,
      migrations: resolve(config.folder, config.migrations),
      name,
    });
    output.data({ file });
    output.result(`wrote ${file}`);
    return done;
  },
};

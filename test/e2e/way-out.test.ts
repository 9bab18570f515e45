/** Each command that the message of an error names is understood where the error came, and does not meet it once more. */
import { expect, test } from "vitest";
import { catalogue } from "../../src/errors/catalogue.ts";
import type { ErrorCode } from "../../src/errors/migrate-error.ts";
import { loadCommands } from "../../src/main/commands/registry.ts";
import { aProject, type Project } from "../support/project.ts";
import { ofThisCommit } from "../support/rounds.ts";
import { errorCases } from "./support/error-cases.ts";
import { errorScenes } from "./support/error-scenes.ts";

const cases = (Object.keys(catalogue) as readonly ErrorCode[]).flatMap((code) =>
  "args" in errorCases[code] ? [{ code, ...errorCases[code] }] : [],
);

/** What stands for what the user chooses, and an example of it. */
const examples: Readonly<Record<string, string>> = { NAME: "another", NUMBER: "1", FILE: "out.json" };

const commands = await loadCommands();

/** The commands in a text, with the flags that follow them directly. */
function commandsIn(text: string): readonly (readonly string[])[] {
  return commands.flatMap(({ name, flags }) =>
    [...text.matchAll(new RegExp(`\\bmigrate ${name}\\b(?!-)(.*)`, "g"))].map(([, rest = ""]) => {
      const args = [name];
      for (let left = rest; ;) {
        const [, word, flag] = /^ (--([a-z-]+)|[A-Z]{4,})(?![a-z-])/.exec(left) ?? [];
        if (word === undefined) return args;
        left = left.slice(word.length + 1);
        args.push(examples[word] ?? word);
        if (flag === undefined || flags[flag]?.kind !== "value") continue;
        const [whole, value] = /^ ('[^']*'|[\w.:]*\w)/.exec(left)!;
        left = left.slice(whole.length);
        args.push(examples[value!] ?? value!.replaceAll("'", ""));
      }
    }),
  );
}

async function sceneOf({ code, process = "shared" }: (typeof cases)[number]): Promise<Project> {
  const project = aProject(process);
  return { ...project, ...(await errorScenes[code]?.(project)) };
}

/** Where something must be changed first, the command meets the error until that is done. */
const needsChange = /\bagain\b|\bthen\b|put the file back/;

/** Where the error comes each time: each run there is interrupted. */
const repeated: ReadonlySet<string> = new Set(["ERR_INTERRUPTED"]);

/** In a folder without git, `rebase` says what to do by hand. */
const usageErrors: ReadonlySet<string> = new Set(["ERR_VERSION_DUPLICATE: rebase"]);

test.each(ofThisCommit(cases, 4))("$code", async (one) => {
  const { stderr } = await (await sceneOf(one)).migrate(one.args);
  const message = stderr.trimEnd().split("\n").at(-1)!;
  for (const args of commandsIn(message)) {
    const project = await sceneOf(one);
    await project.migrate(one.args);
    let ended = await project.migrate(args);
    if (ended.code !== 0 && /--yes\b/.test(ended.stdout + ended.stderr))
      ended = await project.migrate([...args, "--yes"]);
    const shown = `${one.code}: ${args.join(" ")}`;
    if (!usageErrors.has(shown)) expect([shown, ended.code, ended.stderr]).not.toMatchObject([shown, 2]);
    if (!repeated.has(one.code) && !needsChange.test(message)) expect(ended.stderr).not.toContain(message);
  }
});

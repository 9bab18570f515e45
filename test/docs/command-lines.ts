/** Whether the commands and flags that a text names exist. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { commonFlags, leaseFlags } from "../../src/cli/command/flags.ts";
import { loadCommand } from "../../src/main/commands/registry.ts";
import { root } from "../support/project.ts";
import { pageNames } from "./blocks.ts";

/** The problems of all calls of `migrate` in a text: shell, YAML or prose. */
export async function commandProblems(text: string): Promise<readonly string[]> {
  // Lists of YAML and JSON: ["npx", "migrate", "up", "--json"].
  const plain = text.replaceAll(/\\\n/g, " ").replaceAll(/[[\]",]/g, " ");
  const calls = [...plain.matchAll(/(?:^|\s)(?:npx (?:--no )?|exec )?migrate +([a-z]+)\b([^\n|>;&#`]*)/gm)];
  const all = await Promise.all(calls.map(async ([, name = "", words = ""]) => await problemsOf(name, words)));
  return all.flat();
}

async function problemsOf(name: string, words: string): Promise<readonly string[]> {
  const command = await loadCommand(name);
  if (command === undefined) return [`migrate ${name}: no such command`];
  const known = { help: true, version: true, ...commonFlags, ...leaseFlags, ...command.flags };
  const flags = [...words.replaceAll(/'[^']*'/g, "").matchAll(/(?:^|\s)--([a-z][a-z-]*)/g)].map(([, flag]) => flag!);
  return flags.filter((flag) => !Object.hasOwn(known, flag)).map((flag) => `migrate ${name}: no flag --${flag}`);
}

/** The same for the prose of all pages, whose commands are in backticks. */
export async function proseProblems(): Promise<readonly string[]> {
  const all = await Promise.all(
    pageNames().map(async (page) => {
      const lines = readFileSync(join(root, page), "utf8").replaceAll(/^ *```.*?^ *```$/gms, "");
      const code = [...lines.matchAll(/`([^`\n]+)`/g)].map(([, text]) => text).join("\n");
      return (await commandProblems(code)).map((problem) => `${page}: ${problem}`);
    }),
  );
  return all.flat();
}

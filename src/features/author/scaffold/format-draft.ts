/** Applies the setting `format` to a file that is not in its place yet. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { delimiter, join, relative } from "node:path";
import { text as textOf } from "node:stream/consumers";
import { foldersAbove } from "../../../engine/package/package-manager.ts";
import { firstLine, MigrateError } from "../../../errors/migrate-error.ts";
import { shellWord } from "../../shared/format-notation.ts";
import type { LoadedConfig } from "../../../session/load-config.ts";

export interface FormatSettings {
  /**
   * Formats new migrations and the schema: a command such as `prettier --write`, which gets a file's path as its last
   * argument, or a function that gets the text and the path, and returns the formatted text.
   */
  readonly format?: string | ((text: string, file: string) => string | Promise<string>);
}

export type Formatting = Pick<LoadedConfig, "folder"> & FormatSettings;

/** Gives the text of the formatted draft. Throws ERR_FORMAT. */
export async function formatDraft(draft: string, { folder, format }: Formatting): Promise<string> {
  if (typeof format === "string") await runFormatter(format, relative(folder, draft), folder);
  const text = readFileSync(draft, "utf8");
  if (typeof format !== "function") return text;
  const formatted = await formatWith(format, text, draft);
  writeFileSync(draft, formatted);
  return formatted;
}

async function formatWith(
  format: Extract<Formatting["format"], (...args: never) => unknown>,
  text: string,
  draft: string,
): Promise<string> {
  let formatted: unknown;
  try {
    formatted = await format(text, draft);
  } catch (cause) {
    throw new MigrateError("ERR_FORMAT", { problem: `the function failed: ${firstLine(cause)}` }, { cause });
  }
  if (typeof formatted === "string") return formatted;
  throw new MigrateError("ERR_FORMAT", { problem: "the function must give the text" });
}

/** A shell runs the command, with the file's path as its last argument, as it does for a script in package.json. */
async function runFormatter(command: string, file: string, folder: string): Promise<void> {
  const bins = foldersAbove(folder).map((one) => join(one, "node_modules", ".bin"));
  const running = spawn(`${command} ${shellWord(file)}`, {
    cwd: folder,
    shell: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, PATH: [...bins, process.env.PATH ?? ""].join(delimiter) },
  });
  const [errors, said, [code]] = await Promise.all([
    textOf(running.stderr),
    textOf(running.stdout),
    once(running, "close") as Promise<[number | null]>,
  ]);
  if (code === 0) return;
  const why = firstLine(errors.trim() || said.trim() || "it printed nothing");
  throw new MigrateError("ERR_FORMAT", { problem: `${command} ended with ${code ?? "a signal"}: ${why}` });
}

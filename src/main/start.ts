/** Answers what needs next to nothing, and loads the rest for everything else. */
import { helpFor } from "./arguments/saved-help.ts";
import { keepCompiledCode } from "./compile-cache.ts";

/** `entry`: the URL of the command's file. */
export async function start(args: readonly string[], entry: string): Promise<void> {
  keepCompiledCode(entry);
  const [first, ...words] = args;
  const text =
    first === "__complete" ? await (await import("./commands/registry.ts")).complete(words) : await helpFor(args);
  if (text === undefined) return await (await import("./main.ts")).main(args);
  process.exitCode = 0;
  // The reader may have closed its pipe (migrate --help | head -1).
  process.stdout.on("error", () => {}).write(text, () => process.exit());
}

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, watch } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { defineCommand, withAnySession, type Context } from "../../cli/command/command.ts";
import { MigrateError } from "../../errors/migrate-error.ts";
import { readTextIfPresent } from "../../migrations/list-files.ts";
import { schemaFile } from "../shared/file-kind.ts";
import { shownPath } from "../shared/written-files.ts";
import { checkPushAllowed } from "./push/push-allowed.ts";
import type * as shapes from "./json.ts";

/** Milliseconds in which an editor has written a file. */
const settling = 100;

export const devCommand = defineCommand({
  describe: "watch schema.ts: each time it is saved, write the migration, and apply it to a target that allows push",
  examples: [["migrate dev", "while you change schema.ts in an editor; Ctrl-C ends it"]],
  flags: {},
  async run(context) {
    const { output, signal } = context;
    const path = await withAnySession(context, async (session) => {
      checkPushAllowed(session, "run migrate generate and migrate up one after the other", "run");
      return resolve(session.config.folder, schemaFile(session.config));
    });
    if (!existsSync(path))
      throw new MigrateError("ERR_USAGE", {
        problem: `there is no ${shownPath(path)}; migrate pull --schema writes it from the migrations`,
      });
    for await (const _ of textsOf(path, signal)) {
      for (const command of ["generate", "up"]) {
        const code = await runCommand(command, context);
        output.data<typeof shapes.dev>({ command, code });
        if (code !== 0 || signal.aborted) break;
      }
      if (!signal.aborted) output.progress(`watching ${shownPath(path)}`);
    }
    return undefined;
  },
});

/** The text of the file, now and after each change. Ends when the signal aborts. */
async function* textsOf(path: string, signal: AbortSignal): AsyncGenerator<string> {
  let known: string | undefined;
  let hasChanged = Promise.withResolvers<void>();
  // Of the folder, because many editors put a new file in the place of the old one.
  const watcher = watch(dirname(path), (_, name) => {
    if (name === null || name === basename(path)) hasChanged.resolve();
  });
  const stop = () => hasChanged.resolve();
  signal.addEventListener("abort", stop);
  try {
    while (!signal.aborted) {
      const text = readTextIfPresent(path);
      hasChanged = Promise.withResolvers();
      if (text !== undefined && text !== known) yield (known = text);
      await hasChanged.promise;
      await sleep(settling);
    }
  } finally {
    watcher.close();
    signal.removeEventListener("abort", stop);
  }
}

/** In a process of its own, as a module can't be loaded a second time. Gives the exit code. */
async function runCommand(name: string, { flags, signal, output }: Context): Promise<number> {
  const passed = { target: flags.target, config: flags.config, database: flags.database };
  const args = [
    name,
    ...Object.entries(passed).flatMap(([flag, value]) => (value === undefined ? [] : [`--${flag}=${value}`])),
  ];
  // What programs read from this command is its own.
  const stdio = ["inherit", output.json ? "ignore" : "inherit", "inherit"] as const;
  const child = spawn(process.execPath, [...process.execArgv, process.argv[1]!, ...args], { stdio: [...stdio] });
  const stop = () => child.kill("SIGTERM");
  signal.addEventListener("abort", stop);
  const [code] = (await once(child, "exit")) as [number | null];
  signal.removeEventListener("abort", stop);
  return code ?? 130;
}

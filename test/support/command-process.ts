/** Runs the built command whenever it is told to, all in this one process: most of what a command costs is the start of its own. */
import { registerHooks } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import { leapOnceWaiting } from "./leaping-clock.ts";

export interface Asked {
  readonly folder: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Another one for each time that a file of the folder was rewritten; modules of an earlier edition are not used. */
  readonly edition: number;
}

export interface Answer {
  readonly code: number;
  /** Whether no other command may run in the process: something still runs in it that would have ended, or it is too large. */
  readonly isSpent: boolean;
}

/** Ends what a command has written to a stream. */
export const end = "\u0000\n";

const bin = new URL("../../dist/bin.js", import.meta.url).href;
const { log, info, debug } = console;
const { exit } = process;
const environment = { ...process.env };
/** Modules stay loaded for ever. */
const mostMemory = 2 ** 30;
let project = { url: "", edition: 0 };

if (import.meta.main) {
  registerHooks({
    resolve(specifier, context, next) {
      const resolved = next(specifier, context);
      const isOwn = resolved.url.startsWith(project.url) && !resolved.url.includes("/node_modules/");
      if (project.edition === 0 || !isOwn) return resolved;
      return { ...resolved, url: `${resolved.url}${resolved.url.includes("?") ? "&" : "?"}edition=${project.edition}` };
    },
  });
  process.on("message", (asked: Asked) => void run(asked));
  process.on("disconnect", () => exit(0));
}

async function run({ folder, args, env, edition }: Asked): Promise<void> {
  process.chdir(folder);
  project = { url: `${pathToFileURL(folder).href}/`, edition };
  process.argv = [process.execPath, fileURLToPath(bin), ...args];
  Object.assign(process.env, env);
  if (env["LEAPING_CLOCK"] !== undefined) leapOnceWaiting(env["LEAPING_CLOCK"]);
  let isSpent = false;
  const code = await new Promise<number>((resolve) => {
    process.exit = ((given?: number) => {
      // The command itself sets the code, and has nothing left to do then. What ends in any other way does not end here.
      isSpent ||= given !== undefined || process.exitCode === undefined;
      resolve(given ?? Number(process.exitCode ?? 0));
    }) as typeof exit;
    // Each time it is evaluated anew, and what it imports is there.
    void import(`${bin}?${performance.now()}`);
  });
  forget();
  for (const stream of [process.stdout, process.stderr]) stream.write(end);
  isSpent ||= process.memoryUsage.rss() > mostMemory;
  process.send!({ code, isSpent } satisfies Answer);
}

/** Everything is as if no command had run here. */
function forget(): void {
  for (const stream of [process.stdout, process.stderr]) {
    Reflect.deleteProperty(stream, "write");
    Reflect.deleteProperty(stream, "end");
    stream.removeAllListeners("error");
  }
  for (const event of ["uncaughtException", "unhandledRejection", "beforeExit", "warning"])
    process.removeAllListeners(event);
  Object.assign(console, { log, info, debug });
  for (const name of Object.keys(process.env)) if (!Object.hasOwn(environment, name)) delete process.env[name];
  Object.assign(process.env, environment);
  process.exitCode = undefined;
}

/** Runs the built command whenever it is told to, all in this one process: most of what a command costs is the start of its own. */
import { fileURLToPath } from "node:url";

export interface Asked {
  readonly folder: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface Answer {
  readonly code: number;
}

/** Ends what a command has written to a stream. */
export const end = "\u0000\n";

const bin = new URL("../../dist/bin.js", import.meta.url).href;
const { log, info, debug } = console;
const { exit } = process;
const environment = { ...process.env };

if (import.meta.main) {
  process.on("message", (asked: Asked) => void run(asked));
  process.on("disconnect", () => exit(0));
}

async function run({ folder, args, env }: Asked): Promise<void> {
  process.chdir(folder);
  process.argv = [process.execPath, fileURLToPath(bin), ...args];
  Object.assign(process.env, env);
  const code = await new Promise<number>((resolve) => {
    process.exit = ((given?: number) => resolve(given ?? Number(process.exitCode ?? 0))) as typeof exit;
    // Each time it is evaluated anew, and what it imports is there.
    void import(`${bin}?${performance.now()}`);
  });
  forget();
  for (const stream of [process.stdout, process.stderr]) stream.write(end);
  process.send!({ code } satisfies Answer);
}

/** Everything is as if no command had run here. */
function forget(): void {
  for (const stream of [process.stdout, process.stderr]) {
    Reflect.deleteProperty(stream, "write");
    Reflect.deleteProperty(stream, "end");
    stream.removeAllListeners("error");
  }
  for (const event of ["uncaughtException", "unhandledRejection", "warning"]) process.removeAllListeners(event);
  Object.assign(console, { log, info, debug });
  for (const name of Object.keys(process.env)) if (!Object.hasOwn(environment, name)) delete process.env[name];
  Object.assign(process.env, environment);
  process.exitCode = undefined;
}

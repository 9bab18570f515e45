/** A process that runs one command after another, for the tests of a file that are not about processes. */
import { spawn, type ChildProcess } from "node:child_process";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { end, type Answer, type Asked } from "./command-process.ts";
import type { Finished } from "./project.ts";

const script = fileURLToPath(new URL("command-process.ts", import.meta.url));
let shared: ChildProcess | undefined;
let atWork = false;

/** It runs one command at a time. */
export function isAtWork(): boolean {
  return atWork;
}

export async function runShared(
  folder: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Finished> {
  // It ends when the process of the tests does.
  shared ??= spawn(process.execPath, [script], { stdio: ["ignore", "pipe", "pipe", "ipc"] });
  atWork = true;
  const answered = answerOf(shared);
  const texts = Promise.all([textOf(shared.stdout!), textOf(shared.stderr!)]);
  shared.send({ folder, args, env: { NO_COLOR: "1", ...env } } satisfies Asked);
  const [code, [stdout, stderr]] = await Promise.all([answered, texts]);
  atWork = false;
  return { code, stdout, stderr };
}

/** Null where a signal ended the process, as with one of its own. */
function answerOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => {
    const onExit = (code: number | null) => {
      shared = undefined;
      resolve(code);
    };
    child.once("exit", onExit).once("message", ({ code }: Answer) => {
      child.off("exit", onExit);
      resolve(code);
    });
  });
}

/** What the command writes, by whatever means, up to the end that the process marks. */
function textOf(stream: Readable): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const collect = (chunk: Buffer) => {
      chunks.push(chunk);
      if (chunk.toString().endsWith(end)) done();
    };
    const done = () => {
      stream.off("data", collect).off("close", done);
      const text = Buffer.concat(chunks).toString();
      resolve(text.endsWith(end) ? text.slice(0, -end.length) : text);
    };
    stream.on("data", collect).on("close", done);
  });
}

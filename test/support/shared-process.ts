/** Processes that run one command after another, for tests that are not about processes. */
import { spawn, type ChildProcess } from "node:child_process";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { end, type Answer, type Asked } from "./command-process.ts";
import type { Finished } from "./project.ts";

const script = fileURLToPath(new URL("command-process.ts", import.meta.url));

/** Those that wait for a command. One that is at work is nobody else's, so commands at the same time have several. */
const idle: ChildProcess[] = [];

/** Runs the built command in a process that others have run in before. */
export async function runShared(asked: Asked): Promise<Finished> {
  // It ends when the process of the tests does.
  const child = idle.pop() ?? spawn(process.execPath, [script], { stdio: ["ignore", "pipe", "pipe", "ipc"] });
  const answered = answerOf(child);
  const texts = Promise.all([textOf(child.stdout!), textOf(child.stderr!)]);
  child.send({ ...asked, env: { NO_COLOR: "1", ...ofTest(), ...asked.env } } satisfies Asked);
  const [answer, [stdout, stderr]] = await Promise.all([answered, texts]);
  if (answer === "ended") return { code: null, stdout, stderr };
  if (answer.isSpent) child.disconnect();
  else idle.push(child);
  return { code: answer.code, stdout, stderr };
}

/** The process has the environment of the test that started it, which may be over. */
function ofTest(): Asked["env"] {
  const { MUTANTS_TEST: test } = process.env;
  return test === undefined ? {} : { MUTANTS_TEST: test };
}

/** Ended: by a signal, as happens to a process of a command's own. */
function answerOf(child: ChildProcess): Promise<Answer | "ended"> {
  return new Promise((resolve) => {
    const onExit = () => resolve("ended");
    child.once("exit", onExit).once("message", (answer: Answer) => {
      child.off("exit", onExit);
      resolve(answer);
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

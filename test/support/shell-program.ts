/** Programs in place of Python. */
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "./project.ts";

/** One that reads its task and then does this in the shell. */
export function shellProgram(does: string): string {
  const file = join(temporaryFolder(), "python");
  writeFileSync(file, `#!/bin/sh\nread -r task\n${does}\n`);
  chmodSync(file, 0o755);
  return file;
}

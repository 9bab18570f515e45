/** Packages for tests only, installed once in a folder that git ignores. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const cache = fileURLToPath(new URL("../../.cache", import.meta.url));

/** The folder of that name, which `fill` has filled. It is complete if it exists, also while another process installs it. */
export async function installed(name: string, fill: (folder: string) => Promise<void>): Promise<string> {
  const home = join(cache, name);
  if (existsSync(home)) return home;
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, "new-"));
  try {
    await fill(folder);
    await rename(folder, home);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    if (!existsSync(home)) throw error;
  }
  return home;
}

/** Runs a command that prints only what went wrong. Throws that in one line. */
export async function quietly(file: string, args: readonly string[], cwd?: string): Promise<void> {
  await run(file, args, { cwd }).catch((error: { readonly stderr?: string; readonly message: string }) => {
    const lines = (error.stderr || error.message).trim().split("\n");
    throw new Error(`${file} ${args.slice(0, 3).join(" ")}: ${lines.at(-1)}`, { cause: error });
  });
}

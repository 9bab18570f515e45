/** Programs of the tests as bundles: half of what a process costs is otherwise to find and load some hundred modules of src. */
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rolldown, type RolldownOptions } from "rolldown";
import { command } from "../../rolldown.config.ts";
import { root } from "./project.ts";

/** The bundle of a script that is in TypeScript; gone when this process ends. */
export async function bundled(script: string): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), "lance-migrate-bundle-"));
  process.on("exit", () => rmSync(dir, { recursive: true, force: true }));
  return await bundledInto(dir, script);
}

/** The same in a folder of the caller's. A source in `instead`, by its path in `src`, is read as this text. */
export async function bundledInto(
  dir: string,
  script: string,
  instead: ReadonlyMap<string, string> = new Map(),
): Promise<string> {
  symlinkSync(join(root, "node_modules"), join(dir, "node_modules"));
  const { external, platform } = command as RolldownOptions;
  const unread = new Map([...instead].map(([file, text]) => [join(root, "src", file), text]));
  const replacing = {
    name: "instead",
    load(id: string) {
      const code = unread.get(id);
      unread.delete(id);
      return code === undefined ? undefined : { code, moduleType: "ts" as const };
    },
  };
  const bundle = await rolldown({
    input: script,
    external,
    platform,
    plugins: instead.size === 0 ? [] : [replacing],
    logLevel: "warn",
  } as RolldownOptions);
  const { output } = await bundle.write({
    dir,
    format: "esm",
    entryFileNames: "[name].mjs",
    chunkFileNames: "[name]-[hash].mjs",
  });
  await bundle.close();
  if (unread.size > 0) throw new Error(`${script} does not import ${[...unread.keys()].join(", ")}`);
  return join(dir, output[0].fileName);
}

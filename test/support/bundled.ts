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
  symlinkSync(join(root, "node_modules"), join(dir, "node_modules"));
  const { external, platform } = command as RolldownOptions;
  const bundle = await rolldown({ input: script, external, platform, logLevel: "warn" } as RolldownOptions);
  const { output } = await bundle.write({
    dir,
    format: "esm",
    entryFileNames: "[name].mjs",
    chunkFileNames: "[name]-[hash].mjs",
  });
  await bundle.close();
  return join(dir, output[0].fileName);
}

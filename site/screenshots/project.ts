import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));
export const command = `${process.execPath} ${join(root, "dist/bin.js")}`;

/** A temporary project in which "lance-migrate" is the built package. */
export class Project {
  readonly folder = mkdtempSync(join(tmpdir(), "lance-migrate-"));

  constructor() {
    this.write("package.json", `{ "type": "module" }\n`);
    for (const name of ["node_modules", ".lancedb"]) mkdirSync(join(this.folder, name));
    symlinkSync(root, join(this.folder, "node_modules/lance-migrate"));
  }

  write(path: string, text: string): void {
    const file = join(this.folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }

  migration(name: string, ...steps: readonly string[]): void {
    const text = `import * as m from "lance-migrate";\n\nexport const up = [\n${steps.join(",\n")},\n];\n`;
    this.write(`migrations/${name}.ts`, text);
  }

  /** Gives what the command prints on stdout. Fails if it exits with another code. `options`: those of Node. */
  migrate(args: string, code = 0, options = ""): string {
    const { status, stdout, stderr } = spawnSync(`${command.replace(" ", ` ${options} `)} ${args}`, {
      cwd: this.folder,
      shell: true,
      encoding: "utf8",
    });
    if (status !== code) throw new Error(`migrate ${args} exited with ${status}: ${stderr}`);
    return stdout;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }
}

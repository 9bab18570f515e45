/** A project with a copy of the built command, and with an engine of its own. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** `folder`: an empty one. `modules`: the folder of packages in which the engine is installed. */
export function engineProject(folder: string, modules: string) {
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  write("package.json", '{ "type": "module" }\n');
  for (const part of ["dist", "templates", "package.json"])
    cpSync(join(root, part), join(folder, "node_modules/lance-migrate", part), { recursive: true });
  for (const name of ["@lancedb", "apache-arrow"]) symlinkSync(join(modules, name), join(folder, "node_modules", name));
  // What the probes have found is kept in the folder for temporary files.
  const tmp = join(folder, "tmp");
  mkdirSync(tmp);
  const env = { ...process.env, TMPDIR: tmp, NO_COLOR: "1", RUST_BACKTRACE: "0" };
  const bin = join(folder, "node_modules/lance-migrate/dist/bin.js");
  return {
    folder,
    tmp,
    write,
    /** Runs the command here. */
    migrate(...args: readonly string[]) {
      const { status, stdout, stderr } = spawnSync(process.execPath, [bin, ...args], {
        cwd: folder,
        env,
        encoding: "utf8",
      });
      return { code: status, stdout, stderr };
    },
  };
}

/**
 * A project whose engine is that of this repository, but with another version, and with what `change` does to the classes of
 * its native part.
 */
export function changedEngine(folder: string, change: string, version = "99.0.0") {
  const modules = join(root, "node_modules");
  const project = engineProject(folder, modules);
  const own = join(modules, "@lancedb/lancedb/dist");
  rmSync(join(folder, "node_modules/@lancedb"));
  const dist = "node_modules/@lancedb/lancedb/dist";
  project.write(`${dist}/../package.json`, JSON.stringify({ version, main: "dist/index.js" }));
  project.write(
    `${dist}/native.js`,
    `const native = require("${own}/native.js");\n${change}\nmodule.exports = native;\n`,
  );
  project.write(`${dist}/index.js`, `module.exports = require("${own}/index.js");\n`);
  project.write(`${dist}/table.js`, `module.exports = require("${own}/table.js");\n`);
  mkdirSync(join(folder, ".lancedb"));
  return project;
}

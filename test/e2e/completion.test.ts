/** What shells complete: the words that the command offers, and the scripts in the shells themselves. */
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { commandNames } from "../../src/main/commands/registry.ts";
import { lacks } from "../support/needs.ts";
import { aProject, root, temporaryFolderOfFile, type Project } from "../support/project.ts";

const config = `console.log("noise");
export default { target: "local", targets: {
  local: { kind: "lance", uri: "a" }, production: { kind: "lance", uri: "b" }, "$(rm)": { kind: "lance", uri: "c" },
} };`;

async function project(): Promise<Project> {
  const made = aProject();
  made.migration("0001_start.ts", `m.createTable("documents", { id: m.int64(), title: m.utf8() })`);
  made.migration("0002_tags.ts", `m.addColumn("documents", "tags", m.utf8())`);
  made.write("migrate.config.mjs", config);
  expect(await made.migrate(["lint", "--write"])).toMatchObject({ code: 0 });
  return made;
}

const offered: readonly (readonly [words: string, candidates: readonly string[]])[] = [
  ["u", ["up"]],
  ["re", ["reset", "rehearse", "report", "rebase", "resolve", "repair"]],
  ["up --ac", ["--accept"]],
  ["report --f", ["--fleet"]],
  ["up --accept ", ["lossy", "irreversible"]],
  ["up --accept=l", ["--accept=lossy"]],
  ["up --target ", ["local", "production"]],
  ["up -t p", ["production"]],
  ["up --target = p", ["production"]],
  ["up --target =", ["local", "production"]],
  ["--target up do", ["down", "doctor"]],
  ["up --to ", ["0001", "0002"]],
  ["up --to=0002", ["--to=0002"]],
  ["squash --to 0001 --t", ["--timeout", "--target"]],
  ["new more --drop-table ", ["documents"]],
  ["new more --drop-column documents.t", ["documents.title", "documents.tags"]],
  ["pull --except ", ["documents"]],
  ["serve --c", ["--color"]],
  ["completion ", ["bash", "zsh", "fish"]],
  ["inspect ", ["documents"]],
  ["diff ", ["local", "production"]],
  ["diff local ", ["production"]],
  ["diff local production --ch", ["--check"]],
  ["up --config ", []],
  ["-c missing.ts up --target ", []],
];

test("the words that fit are offered, with what they mean", async () => {
  const { migrate } = await project();
  const found = await Promise.all(
    offered.map(async ([words]) => {
      const { stdout } = await migrate(["__complete", ...words.split(" ")]);
      return [words, stdout.split("\n").flatMap((line) => line.split("\t", 1)[0] || [])] as const;
    }),
  );
  expect(found).toEqual(offered);
  expect(await migrate(["__complete", "up", "--to", "0002"])).toMatchObject({ code: 0, stdout: "0002\ttags\n" });
  const { stdout } = await migrate(["__complete", ""]);
  expect(stdout.split("\n").flatMap((line) => line.split("\t", 1)[0] || [])).toEqual(commandNames);
});

test("a line break in a meaning adds no candidate", async () => {
  const made = aProject();
  const tables = { documents: { columns: { title: "utf8\nother.column\u001b[31m" } } };
  // As an editor on Windows saves it.
  made.write("migrations/lock.json", `\uFEFF${JSON.stringify({ tables })}`);
  expect(await made.migrate(["__complete", "new", "more", "--drop-column", "documents."])).toMatchObject({
    stdout: "documents.title\tutf8\\nother.column\\u001b[31m\n",
  });
});

test("a shell that is unknown is refused", async () => {
  const says = { code: 2, stderr: "the shell must be one of bash, zsh, fish\n" };
  expect(await aProject().migrate(["completion"])).toMatchObject(says);
  expect(await aProject().migrate(["completion", "tcsh"])).toMatchObject(says);
});

describe("the script completes in", () => {
  const bin = join(temporaryFolderOfFile(), "bin");
  const env = { ...process.env, PATH: `${bin}:${process.env["PATH"]}`, TERM: "dumb" };
  beforeAll(() => {
    mkdirSync(bin);
    symlinkSync(join(root, "dist/bin.js"), join(bin, "migrate"));
  });
  const run = async (shell: string, args: readonly string[]) =>
    execFileSync(shell, args, {
      cwd: (await project()).folder,
      env,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "inherit"],
    });

  test("bash", async () => {
    const script = `eval "$(migrate completion bash)"
      typed() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _migrate "$1"; echo "\${COMPREPLY[@]}"; }
      typed migrate up --ac; typed migrate up --target ''; typed migrate up --to = 00
      complete -p migrate lance-migrate`;
    const complete = "complete -o default -F _migrate";
    expect(await run("bash", ["--norc", "-c", script])).toBe(
      `--accept\nlocal production\n0001 0002\n${complete} migrate\n${complete} lance-migrate\n`,
    );
  });

  // A pseudo-terminal of zsh's own, because its completion works only while a line is edited.
  test.skipIf(lacks("zsh"))("zsh", async () => {
    const script = String.raw`zmodload zsh/zpty
      zpty -b shell zsh -f -i
      zpty -w shell 'autoload -Uz compinit; compinit -u -D; eval "$(migrate completion zsh)"; PS1=; setopt no_beep'
      zpty -w shell 'migrate() { print -r -- "GOT[$*]" }; print READY'
      zpty -r -m shell line '*READY*READY*'
      zpty -w -n shell $'migrate up --ac\tlo\t --target=prod\t --to 0002\t\n'
      zpty -r -m shell line '*GOT\[*\]*'
      print -r -- "$line"`;
    expect(await run("zsh", ["-f", "-c", script])).toContain("GOT[up --accept lossy --target=production --to 0002]");
  });

  test.skipIf(lacks("fish"))("fish", async () => {
    const typed = ["up --ac", "up --target ", "up --to=00", "up --config migrate.c"];
    const script = ["migrate completion fish | source", ...typed.map((words) => `complete -C "migrate ${words}"`)];
    expect(await run("fish", ["--no-config", "-c", script.join("\n")])).toBe(
      "--accept\tconsent to losing data in this run: lossy or irreversible\nlocal\nproduction\n--to=0001\tstart\n--to=0002\ttags\nmigrate.config.mjs\n",
    );
  });
});

/** The code of the documentation: commands are run and print what is shown, TypeScript is type-checked, the rest is parsed. */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { expect, test } from "vitest";
import { aProject, root, temporaryFolderOfFile, type Project } from "../support/project.ts";
import { ofThisCommit } from "../support/rounds.ts";
import { strictConfig, typeProblems } from "../support/type-check.ts";
import { allBlocks, at, type Block } from "./blocks.ts";
import { commandProblems, proseProblems } from "./command-lines.ts";
import { isShown, masked, runShown, shownIn } from "./console.ts";
import { scenes } from "./scenes.ts";
import { moduleOf } from "./typescript.ts";

const blocks = allBlocks();
const run = blocks.filter(({ notRun }) => notRun === undefined);
const inLanguage = (...languages: readonly string[]) => run.filter(({ language }) => languages.includes(language));

/** Where the TypeScript of all sections is checked at once. */
const checked = temporaryFolderOfFile();
const bySection = Map.groupBy(inLanguage("ts", "js", "console", "json", "python"), ({ section }) => section);

/** For each commit half of the sections: all are read and run by the same code. */
test.each(ofThisCommit([...bySection], 2))("%s", async (section, own) => {
  const project = aProject();
  symlinkSync(join(root, "node_modules/@lancedb"), join(project.folder, "node_modules/@lancedb"));
  const migrate = async (...args: readonly string[]) =>
    void expect(await project.migrate(args), args.join(" ")).toMatchObject({ code: 0 });
  await scenes[section]?.({ project, migrate });
  for (const block of own)
    if (block.language === "console") await checkConsole(project, block);
    else if (block.language === "ts") checkFile(project, block);
    else if (block.language === "json") JSON.parse(block.text);
    else if (block.file !== undefined) project.write(block.file, block.text);
  // Some show what TypeScript refuses, and files about the history of a project can't be checked with those of another.
  if (own.some(({ text }) => text.includes("error TS"))) return;
  const isSource = (path: string) =>
    !/node_modules|\.lancedb|\.git|history\.d\.ts|tsconfig|package\.json/.test(path.slice(project.folder.length));
  cpSync(project.folder, join(checked, section.replaceAll(/\W+/g, "-")), { recursive: true, filter: isSource });
});

async function checkConsole(project: Project, block: Block): Promise<void> {
  for (const { command, output } of shownIn(block.text)) {
    const printed = await runShown(project, command);
    // What a command prints is left out where it does not matter.
    if (output !== "" && !isShown(output, printed))
      expect(masked(printed.join("")), `${at(block)}: $ ${command}`).toBe(masked(output));
  }
}

/** Writes the file. If a command before has written it, it must be as it is shown. */
function checkFile(project: Project, block: Block): void {
  const { file = `example-${block.line}.ts`, text } = block;
  const path = join(project.folder, file);
  const shown = block.file === undefined ? text : text.slice(text.indexOf("\n") + 1);
  if (!existsSync(path)) return project.write(file, moduleOf(shown));
  const written = readFileSync(path, "utf8");
  if (!shown.includes("…")) return expect(written, at(block)).toBe(shown);
  for (const part of shown.split(/^.*…\n|\n\n/m)) expect(written, at(block)).toContain(part);
}

test("TypeScript accepts the code", () => {
  mkdirSync(join(checked, "node_modules/@lancedb"), { recursive: true });
  symlinkSync(root, join(checked, "node_modules/lance-migrate"));
  for (const name of ["@lancedb/lancedb", "@opentelemetry", "apache-arrow", "vitest", "@types"])
    symlinkSync(join(root, "node_modules", name), join(checked, "node_modules", name));
  const config = JSON.parse(strictConfig) as { compilerOptions: object };
  const own = { noUnusedLocals: false, declaration: false, types: ["node"], allowImportingTsExtensions: true };
  const compilerOptions = { ...config.compilerOptions, ...own };
  writeFileSync(join(checked, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["**/*.ts", "**/*.mts"] }));
  writeFileSync(join(checked, "package.json"), `{ "type": "module" }\n`);
  expect(typeProblems(checked)).toEqual([]);
});

test.each(inLanguage("js").map((block) => [at(block), block.text]))("%s is JavaScript", (_, text) => {
  expect(spawnSync(process.execPath, ["--input-type=module", "--check"], { input: text }).status).toBe(0);
});

test.each(inLanguage("python").map((block) => [at(block), block.text]))("%s is Python", (_, text) => {
  const { error, stderr } = spawnSync("python3", ["-c", "import ast, sys; ast.parse(sys.stdin.read())"], {
    input: text,
    encoding: "utf8",
  });
  if (error === undefined) expect(stderr).toBe("");
});

test.each(inLanguage("sh").map((block) => [at(block), block.text]))("%s is a shell script", (_, text) => {
  expect(spawnSync("bash", ["-n"], { input: text, encoding: "utf8" })).toMatchObject({ status: 0, stderr: "" });
});

test.each(inLanguage("yaml").map((block) => [at(block), block.text]))("%s is YAML", (_, text) => {
  expect(parseAllDocuments(text).flatMap(({ errors }) => errors.map(String))).toEqual([]);
});

test("all commands and flags exist, those in prose too", async () => {
  const found = await Promise.all(
    blocks
      .filter(({ language }) => ["console", "sh", "yaml"].includes(language))
      .map(async (block) => (await commandProblems(block.text)).map((problem) => `${at(block)}: ${problem}`)),
  );
  expect([...found.flat(), ...(await proseProblems())]).toEqual([]);
});

test("each block has a language, and one that is not run has a reason", () => {
  const without = blocks.filter(({ language, notRun }) => language === "" && notRun === undefined);
  expect(without.map(at)).toEqual([]);
  const reasons = blocks.filter(({ notRun }) => notRun !== undefined).map((block) => `${at(block)}: ${block.notRun}`);
  console.log(`Not run:\n  ${reasons.join("\n  ")}`);
});

test("each scene belongs to a section with code", () => {
  expect(Object.keys(scenes).filter((section) => !bySection.has(section))).toEqual([]);
});

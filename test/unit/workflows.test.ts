import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { groups, inTurn, leftToLater, longest } from "../files.ts";
import { parts } from "../parts.ts";
import { root, startNode } from "../support/project.ts";

const workflow = (name: string) => readFileSync(join(root, ".github/workflows", `${name}.yml`), "utf8");

test("every test file is in one group, but those for a server that must be installed", () => {
  const folders = globSync("*/**/*.test.ts", { cwd: join(root, "test") }).map((file) => file.split("/")[0]!);
  const listed = Object.values(groups).flat();
  expect(listed.toSorted()).toEqual([...new Set(folders)].filter((folder) => folder !== "pylance").toSorted());
});

const isTest = (file: string) => existsSync(join(root, "test", `${file}.test.ts`));

test("every test file that is to be run before the others exists", () => {
  expect(longest.filter((file) => !isTest(file))).toEqual([]);
});

const commits = Array.from({ length: 40 }, (_, commit) => commit);

test("a file that CI does not run for each commit exists, and runs for one of any four", () => {
  const files = inTurn.flat();
  expect(files.toSorted()).toEqual([...new Set(files)].filter(isTest).toSorted());
  for (const first of commits) {
    const left = [0, 1, 2, 3].map((more) => leftToLater(first + more));
    expect(files.filter((file) => left.every((one) => one.includes(file)))).toEqual([]);
  }
});

test("cases of a file that CI does not run for each commit are all tried in time, as it counts its own turns", () => {
  const text = (file: string) => readFileSync(join(root, "test", `${file}.test.ts`), "utf8");
  expect(inTurn.flat().filter((file) => text(file).includes("ofThisCommit"))).toEqual([]);
});

test("the nightly run leaves no file out", () => {
  for (const [name, folders] of Object.entries(groups)) {
    const args = parts[name]!.slice(parts[name]!.indexOf("run") + 1);
    expect(args).toEqual(folders.map((folder) => `test/${folder}/`));
  }
  expect(inTurn.flat().filter((file) => !Object.values(groups).flat().includes(file.split("/")[0]!))).toEqual([]);
});

test("the nightly workflow runs every part of npm run nightly", async () => {
  const { stdout } = await startNode(["test/nightly.ts", "--list"], root).finished;
  const [, list] = /part:\n((?: +- [\w-]+\n)+)/.exec(workflow("nightly"))!;
  expect(list!.match(/[\w-]{2,}/g)).toEqual(stdout.trim().split("\n"));
});

test("a part that npm run nightly does not have is refused", async () => {
  const { code, stderr } = await startNode(["test/nightly.ts", "unit", "nothing"], root).finished;
  expect(code).toBe(2);
  expect(stderr).toMatch(/^there is no part nothing; there are unit, contract, /);
});

test("all workflows use the same versions of actions", () => {
  const used = ["ci", "nightly", "release"].flatMap((name) => workflow(name).match(/uses: .*/g)!);
  const actions = used.map((line) => line.slice("uses: ".length).split("@")[0]);
  expect(new Set(used).size).toBe(new Set(actions).size);
});

/** What other shells than those of Unix read in another way: quotes, variables, pipes, patterns and programs. */
const ofUnix = /['`$|;*~]|[^&]&(?!&)|^[A-Z_]+=|\b(rm|cp|mv|chmod|sudo|export) /m;

test("the scripts of package.json run in the shells of Windows, too", () => {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { scripts: object };
  // What is in quotes is the code of node --eval.
  const commands = Object.values(scripts).map((script: string) => script.replaceAll(/"[^"]*"/g, '""'));
  expect(commands.filter((command) => ofUnix.test(command))).toEqual([]);
});

interface System {
  readonly strategy: { readonly matrix: { readonly include: readonly Readonly<Record<string, string>>[] } };
  readonly steps: readonly { readonly run?: string; readonly if?: string }[];
}

test("the CI workflow runs on Windows, on macOS and with musl, in whatever shell is there", () => {
  const { system } = (parse(workflow("ci")) as { jobs: { system: System } }).jobs;
  const places = system.strategy.matrix.include.map(({ system: name, container }) => container ?? name);
  expect(places).toEqual(["macos-latest", "windows-latest", "node:22-alpine"]);
  const commands = system.steps.flatMap(({ run, if: condition }) => (condition === undefined ? (run ?? []) : []));
  expect(commands.filter((command) => ofUnix.test(command))).toEqual([]);
  expect(commands).toContain("npx migrate up");
  expect(commands).toContain("npx vitest run test/unit");
});

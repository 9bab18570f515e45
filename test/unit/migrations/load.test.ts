/** Loading is left to Node, which these tests run in. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import type { MigrateError } from "../../../src/errors/migrate-error.ts";
import { loadMigration } from "../../../src/migrations/load.ts";
import { checkSameAgain } from "../../../src/migrations/same-again.ts";
import { listMigrations } from "../../../src/migrations/list-files.ts";
import type { Step } from "../../../src/steps/registry.ts";
import { root, startNode, temporaryFolder } from "../../support/project.ts";
import { stepNames } from "../../../src/steps/registry.ts";

interface Loaded {
  readonly steps?: readonly Step[];
  readonly down?: readonly Step[];
  readonly checksum?: string;
  readonly code?: string;
  readonly message?: string;
  readonly details?: unknown;
}

const url = (path: string) => JSON.stringify(pathToFileURL(join(root, path)).href);

const script = `
  import { listMigrations } from ${url("src/migrations/list-files.ts")};
  import { loadMigration } from ${url("src/migrations/load.ts")};
  const loaded = [];
  for (const file of listMigrations(process.argv[1]))
    loaded.push(await loadMigration(file).catch(({ code, message, details }) => ({ code, message, details })));
  console.log(JSON.stringify(loaded));`;

function aFolder(files: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder();
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
  return folder;
}

/** What Node makes of a folder of files. */
async function load(files: Readonly<Record<string, string>>): Promise<readonly Loaded[]> {
  const loaded: unknown[] = [];
  for (const file of listMigrations(aFolder(files)))
    loaded.push(
      await loadMigration(file).catch(({ code, message, details }: MigrateError) => ({ code, message, details })),
    );
  return JSON.parse(JSON.stringify(loaded)) as readonly Loaded[];
}

/** The same in a process that ends when it has nothing left to do. */
async function loadInOwnProcess(files: Readonly<Record<string, string>>): Promise<readonly Loaded[]> {
  const folder = aFolder(files);
  const { stdout, stderr } = await startNode(["--input-type=module", "-e", script, folder], folder).finished;
  if (stdout === "") throw new Error(stderr);
  return JSON.parse(stdout) as readonly Loaded[];
}

const builders = `import { renameColumn, retypeColumn } from ${url("src/steps/index.ts")};
import { int64 } from ${url("src/schema/declare/type-builders.ts")};
`;
const rename = { kind: "renameColumn", table: "t", path: "a", name: "b" };
const up = `export const up = [${JSON.stringify(rename)}];\n`;
const module = { "package.json": '{ "type": "module" }' };

test("files of all four endings are loaded, each with its steps", async () => {
  const loaded = await load({
    ...module,
    "0001_a.ts": `${builders}export const up: readonly unknown[] = [renameColumn("t", "a", "b")];`,
    "0002_a.js": up,
    "0003_a.mts": `const name: string = "b";\nexport const up = [{ kind: "renameColumn", table: "t", path: "a", name }];`,
    "0004_a.mjs": up,
  });
  expect(loaded.map(({ steps }) => steps)).toEqual([[rename], [rename], [rename], [rename]]);
  expect(new Set(loaded.map(({ checksum }) => checksum)).size).toBe(1);
});

test("formatting, comments, the order of keys and the language of the file do not change the checksum", async () => {
  const loaded = await load({
    ...module,
    "0001_a.ts": `${builders}export const up = [renameColumn("t", "a", "b"), retypeColumn("t", "b", int64())];`,
    "0002_a.js": `${builders}
      // Comments and blank lines.

      export const up = [
        renameColumn("t", "a", "b"), /* inside */
        { path: "b", type: { kind: "int64" }, table: "t", kind: "retypeColumn" },
      ];`.replaceAll("\n", "\r\n"),
    "0003_a.ts": `${builders}export const up = [renameColumn("t", "a", "b"), retypeColumn("t", "c", int64())];`,
  });
  const [first, second, third] = loaded.map(({ checksum }) => checksum);
  expect(first).toMatch(/^[0-9a-f]{64}$/);
  expect(second).toBe(first);
  expect(third).not.toBe(first);
});

test("a file with no package.json around it is loaded", async () => {
  const loaded = await load({ "0001_a.ts": up, "0002_a.js": up });
  expect(loaded.map(({ steps }) => steps)).toEqual([[rename], [rename]]);
});

test("a CommonJS file is loaded", async () => {
  const loaded = await load({
    "package.json": '{ "type": "commonjs" }',
    "0001_a.js": `module.exports = { up: [${JSON.stringify(rename)}] };`,
    "0002_a.js": `exports.up = [${JSON.stringify(rename)}];`,
    "0003_a.js": `module.exports = Object.freeze({ get up() { return [${JSON.stringify(rename)}]; } });`,
  });
  expect(loaded.map(({ steps }) => steps)).toEqual([[rename], [rename], [rename]]);
});

test("what rolls a migration back may be said, and is no part of what is compared", async () => {
  const back = `export const down = [{ kind: "renameColumn", table: "t", path: "b", name: "a" }];`;
  const [without, withDown, wrong] = await load({
    ...module,
    "0001_a.ts": up,
    "0002_a.ts": `${up}\n${back}`,
    "0003_a.ts": `${up}\nexport const down = [{ kind: "turnBack" }];`,
  });
  expect(withDown).toMatchObject({ steps: [rename], down: [{ ...rename, path: "b", name: "a" }] });
  expect([without?.down, withDown?.checksum]).toEqual([undefined, without?.checksum]);
  expect(wrong?.message).toContain("0003_a.ts, step 1 of down (turnBack): ");
});

test("a migration may await while it is evaluated", async () => {
  const [loaded] = await load({
    ...module,
    "0001_a.ts": `const name = await Promise.resolve("b");\nexport const up = [{ kind: "renameColumn", table: "t", path: "a", name }];`,
  });
  expect(loaded?.steps).toEqual([rename]);
});

test.each([
  ["no up", "export const down = [];", "exports no up; it exports only down"],
  ["nothing", "", "exports no up; it exports nothing"],
  ["its steps as the default", `export default [${JSON.stringify(rename)}];`, "exports no up; it exports only default"],
  ["up as a function", "export function up() {}", "exports up as a function; steps are data, not code"],
  [
    "up as an async function",
    "export const up = async () => {};",
    "exports up as a function; steps are data, not code",
  ],
  ["an empty up", "export const up = [];", "exports no steps in up: its list is empty"],
  ["an empty down", `${up}\nexport const down = [];`, "exports no steps in down: its list is empty"],
  ["a down that is null", `${up}\nexport const down = null;`, "exports down without a value"],
  ["a down that is a text", `${up}\nexport const down = "back";`, "exports a down that is no array"],
  ["a step without an array", `export const up = ${JSON.stringify(rename)};`, "exports an up that is no array"],
  ["a text", 'export const up = "rename";', "exports an up that is no array"],
])("a file that exports %s is refused", async (_, text, problem) => {
  expect(await load({ ...module, "0001_a.ts": text })).toMatchObject([
    { code: "ERR_FILE_EXPORTS", details: { file: "0001_a.ts", problem } },
  ]);
});

const throwing = `"data:text/javascript,throw new Error('elsewhere')"`;

test.each([
  ["a syntax error", "\nexport const up = [;", /(Expression expected|Unexpected token).* \(line 2\)$/],
  ["a throw at its top", 'throw new Error("no such luck\\n    at somewhere");', /^no such luck \(line 1\)$/],
  ["a throw further down", "\nfunction stop() {\n  throw new Error('no');\n}\nstop();", /^no \(line 3\)$/],
  [
    "a throw of what it calls",
    `\nimport { parsePath } from ${url("src/schema/path.ts")};\nparsePath("");`,
    / \(line 3\)$/,
  ],
  ["a throw in what it imports", `import ${throwing};`, /^elsewhere$/],
  ["a throw of no error", 'throw "a text";', /^a text$/],
  ["a missing import", 'import "./nowhere.ts";\nexport const up = [];', /Cannot find module/],
  [
    "an import of a name that is not there",
    `import { nope } from ${url("src/steps/index.ts")};`,
    /does not provide an export named 'nope'/,
  ],
  [
    "an enum",
    "enum Name { b }\nexport const up = [Name.b];",
    /enum.*Node only strips types, so leave out enums, namespaces and parameter properties$/,
  ],
  ["a namespace", "namespace Names { export const b = 1 }\nexport const up = [];", /Node only strips types/],
])("a file with %s says what is wrong", async (_, text, problem) => {
  const [loaded] = await load({ ...module, "0001_a.ts": text });
  expect(loaded).toMatchObject({
    code: "ERR_FILE_UNREADABLE",
    details: { file: "0001_a.ts", problem: expect.stringMatching(problem) },
  });
});

test.each(["js", "mjs", undefined])(
  "an import with the extension %s where the file has another names that file",
  async (extension) => {
    const name = ["./0001_env", extension].filter((part) => part !== undefined).join(".");
    const importing = `import ${JSON.stringify(name)};\nexport const up = [];`;
    const [, loaded] = await load({ ...module, "0001_env.ts": up, "0002_a.ts": importing });
    expect(loaded).toMatchObject({
      details: {
        problem: expect.stringMatching(
          /Cannot find module .*; the file there is 0001_env\.ts: import it with that name$/,
        ),
      },
    });
  },
);

test("a file with an await that never ends says what is wrong", async () => {
  expect(await loadInOwnProcess({ ...module, "0001_a.ts": "await new Promise(() => {});" })).toMatchObject([
    { code: "ERR_FILE_UNREADABLE", details: { file: "0001_a.ts", problem: "it awaits something that never comes" } },
  ]);
});

test.each([
  ["a syntax error", "0001_a.js", "\n\nmodule.exports = { up: [; };", /^Unexpected token ';' \(line 3\)$/],
  ["a throw", "0001_a.js", "\nthrow new Error('no');", /^no \(line 2\)$/],
  [
    "an enum",
    "0001_a.ts",
    "\nenum Name { b }\nexports.up = [];",
    /^TypeScript enum .* \(line 2\); Node only strips types/,
  ],
])("of a CommonJS file with %s the line is named", async (_, file, text, problem) => {
  expect(await load({ "package.json": '{ "type": "commonjs" }', [file]: text })).toMatchObject([
    { code: "ERR_FILE_UNREADABLE", details: { file, problem: expect.stringMatching(problem) } },
  ]);
});

test("of an enum in a file with no package.json around it the line is named", async () => {
  expect(await load({ "0001_a.ts": "\nenum Name { b }\nexport const up = [Name.b];" })).toMatchObject([
    { details: { problem: expect.stringContaining("(line 2); Node only strips types") } },
  ]);
});

test.each([
  ["that imports", "0001_a.ts", builders + up],
  ["that imports nothing", "0001_a.ts", up],
  ["in JavaScript", "0001_a.js", builders + up],
])("a module %s in a CommonJS package says the way out", async (_, file, text) => {
  expect(await load({ "package.json": '{ "type": "commonjs" }', [file]: text })).toMatchObject([
    {
      code: "ERR_FILE_UNREADABLE",
      message: expect.stringContaining('put "type": "module" into its package.json, or name the file .m'),
    },
  ]);
});

test("an invalid step names the file, its number and its kind", async () => {
  const loaded = await load({
    ...module,
    "0001_a.ts": `export const up = [${JSON.stringify(rename)}, { kind: "renameColumn", table: "t", path: "a" }];`,
    "0002_a.ts": `export const up = [{ kind: "renameColum", table: "t", path: "a", name: "b" }];`,
    "0003_a.ts": `export const up = [() => {}];`,
    "0004_a.ts": `export const up = [[${JSON.stringify(rename)}]];`,
  });
  expect(loaded.map(({ code, message }) => [code, message])).toEqual([
    ["ERR_STEP_INVALID", "0001_a.ts, step 2 (renameColumn): name must be the new name"],
    [
      "ERR_STEP_INVALID",
      "0002_a.ts, step 1 (renameColum): there is no step kind renameColum; did you mean renameColumn?",
    ],
    ["ERR_STEP_INVALID", "0003_a.ts, step 1: is a function; call it with its arguments"],
    ["ERR_STEP_INVALID", `0004_a.ts, step 1: is not a step; create one with ${stepNames.join(", ")}`],
  ]);
});

test("a comma too many leaves a hole among the steps, which is no step", async () => {
  const step = JSON.stringify(rename);
  expect(await load({ ...module, "0001_a.ts": `export const up = [${step}, , ${step}];` })).toMatchObject([
    { code: "ERR_STEP_INVALID", details: { file: "0001_a.ts", step: 2 } },
  ]);
});

test("a process that goes on living sees an edited file again", async () => {
  const folder = temporaryFolder();
  const load = async (name: string) => {
    writeFileSync(join(folder, "0001_a.mjs"), `export const up = [${JSON.stringify({ ...rename, name })}];`);
    return (await loadMigration(listMigrations(folder)[0]!)).steps;
  };
  expect(await load("b")).toEqual([rename]);
  expect(await load("c")).toEqual([{ ...rename, name: "c" }]);
});

test("who wants to hear of all that is wrong is told, with the places of steps, and gets the rest", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  const text = `${builders}const all = ["a", "b"].map((name) => renameColumn("t", name, "c"));
export const up = [...all, 5, { kind: "renamColumn" }, , retypeColumn("t", "a", int64()),];
export const down = [renameColumn];
export const accepts = "lossy";
`;
  writeFileSync(join(folder, "0001_a.ts"), text);
  writeFileSync(join(folder, "0002_a.ts"), "type None = 1;\n  throw new Error('no');\n");
  writeFileSync(join(folder, "0003_a.ts"), "\nexport const up = [;\n");
  const program = `
    import { listMigrations } from ${url("src/migrations/list-files.ts")};
    import { loadMigration } from ${url("src/migrations/load.ts")};
    import { callsOf } from ${url("src/steps/define/call-sites.ts")};
    const told = [], steps = [];
    for (const file of listMigrations(process.argv[1])) {
      const refuse = (problem, value) => told.push({ code: problem.code, ...problem.details, value });
      const migration = await loadMigration(file, 5, { refuse, recordsCalls: true });
      migration.steps.forEach((step, index) => {
        const [{ line, column }, ...others] = callsOf(step);
        steps.push([index, line, column, others.map(({ file }) => file).filter((name) => name.includes("0001_a.ts")).length]);
      });
      // Who loads it as ever gets steps of which nothing is known.
      const plain = await loadMigration(file).catch(() => ({ steps: [] }));
      if (plain.steps.some((step) => callsOf(step).length > 0)) throw new Error("noted");
    }
    console.log(JSON.stringify({ told, steps }));`;
  const { stdout, stderr } = await startNode(["--input-type=module", "-e", program, folder], folder).finished;
  const { told, steps } = JSON.parse(stdout === "" ? JSON.stringify(stderr) : stdout) as Record<string, unknown>;
  const file = "0001_a.ts";
  expect(told).toEqual([
    { code: "ERR_STEP_INVALID", file, step: 3, value: 5, problem: expect.stringContaining("is not a step") },
    {
      code: "ERR_STEP_INVALID",
      file,
      step: 4,
      value: { kind: "renamColumn" },
      kind: "renamColumn",
      problem: expect.anything(),
    },
    { code: "ERR_STEP_INVALID", file, step: 5, problem: expect.stringContaining("is not a step") },
    { code: "ERR_STEP_INVALID", file, step: 1, of: "down", problem: expect.stringContaining("is a function") },
    { code: "ERR_FILE_EXPORTS", file, list: "accepts", problem: expect.stringContaining("exports accepts") },
    { code: "ERR_FILE_UNREADABLE", file: "0002_a.ts", problem: "no (line 2)", line: 2, column: 9 },
    { code: "ERR_FILE_UNREADABLE", file: "0003_a.ts", problem: expect.anything(), line: 2, column: 20 },
  ]);
  expect(steps).toEqual([
    [0, 3, 38, 1],
    [1, 3, 38, 1],
    [5, 4, 58, 0],
  ]);
});

const stamped = (code: string) =>
  `export const up = [{ kind: "setMetadata", table: "t", path: "a", metadata: { at: ${code} } }];\n`;

test("a migration whose steps are others each time is refused, and one that only names the clock is not", async () => {
  const folder = aFolder({
    "0001_clock.ts": stamped("String(Date.now())"),
    "0002_chance.ts": stamped("String(Math.random())"),
    "0003_grows.ts": `globalThis.many = (globalThis.many ?? 0) + 1;\nexport const up = Array(globalThis.many).fill(${JSON.stringify(rename)});\n`,
    "0004_same.ts": stamped("new Date(0).toISOString()"),
    "0005_once.ts": `if (globalThis.isThere) throw new Error("already exists");\nglobalThis.isThere = true;\n${stamped("String(Math.PI)")}`,
  });
  const [clock, chance, grows, same, once] = await Promise.all(
    listMigrations(folder).map(async (file) => {
      const migration = await loadMigration(file);
      return await checkSameAgain([migration]).catch(({ code, message }: MigrateError) => ({ code, message }));
    }),
  );
  const differs = (file: string, difference: string) => ({
    code: "ERR_FILE_EXPORTS",
    message: `${file} exports up with ${difference} when it is evaluated again, so later runs would take it for changed; write out the value that it computes`,
  });
  expect(clock).toMatchObject(differs("0001_clock.ts", "another step 1 (setMetadata)"));
  expect(chance).toMatchObject(differs("0002_chance.ts", "another step 1 (setMetadata)"));
  expect(grows).toMatchObject(differs("0003_grows.ts", "2 steps instead of 1"));
  expect([same, once]).toEqual([undefined, undefined]);
});

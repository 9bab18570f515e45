import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { fileKind, type FileKind } from "../../../../src/features/shared/file-kind.ts";
import { temporaryFolder } from "../../../support/project.ts";

const commonJs = { type: "commonjs" };
const script = { "index.js": "" };

test.each<[kind: FileKind, what: string, packageJson: object, files: Readonly<Record<string, string>>]>([
  ["ts", "an ES module", { type: "module" }, {}],
  ["mts", "CommonJS", commonJs, {}],
  ["mts", "CommonJS without a type", {}, {}],
  ["mts", "CommonJS with a tsconfig.json", commonJs, { ...script, "tsconfig.json": "{}" }],
  ["js", "a JavaScript ES module", { type: "module" }, script],
  ["ts", "ES modules with the files of Yarn's PnP", { type: "module" }, { ".pnp.cjs": "", ".pnp.loader.mjs": "" }],
  ["mjs", "CommonJS in JavaScript", commonJs, { "src/index.js": "" }],
  ["mjs", "CommonJS in JavaScript with a strange package.json", { ...commonJs, dependencies: 1 }, script],
  [
    "mts",
    "JavaScript in a package that depends on typescript",
    { ...commonJs, devDependencies: { typescript: "7" } },
    script,
  ],
  ["mjs", "a JavaScript configuration", commonJs, { "migrate.config.mjs": "" }],
  [
    "ts",
    "CommonJS with a migrations folder of ES modules",
    commonJs,
    { "migrations/package.json": `{ "type": "module" }` },
  ],
  ["mjs", "migrations in .mjs beside a tsconfig.json", {}, { "migrations/0001_a.mjs": "", "tsconfig.json": "{}" }],
])("new files are .%s in %s", (kind, _, packageJson, files) => {
  const folder = temporaryFolder();
  const all = { "package.json": JSON.stringify(packageJson), ...files };
  for (const [file, text] of Object.entries(all)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  const file = Object.keys(files).find((name) => name.startsWith("migrate.config")) ?? "";
  expect(fileKind({ folder, file, migrations: "migrations" })).toBe(kind);
});

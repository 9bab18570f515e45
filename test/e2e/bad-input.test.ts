/** Whatever is wrong with the input: one sentence, the right exit code, and nothing written. */
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { lancedb } from "../support/tables.ts";
import { manyProjects, type SmallProject } from "./support/many-projects.ts";

vi.setConfig({ maxConcurrency: 3 });

interface BadInput {
  /** Completes the sentence "… is refused". */
  readonly title: string;
  readonly args?: readonly string[];
  readonly files?: Readonly<Record<string, string>>;
  /** What the files can't say; runs in the project's folder. */
  readonly arrange?: (folder: string) => void | Promise<void>;
  readonly code: 1 | 2 | 4 | 6;
  /** A part of the sentence. */
  readonly says: string;
}

const documents = `m.createTable("documents", {
  id: m.int32().notNull(),
  title: m.utf8(),
  score: m.float32(),
  source: m.struct({ url: m.utf8(), fetched: m.utf8() }),
  embedding: m.vector(8),
  tags: m.list(m.utf8()),
})`;

const module = (up: string) => `import * as m from "lance-migrate";\n\nexport const up = ${up};\n`;
const good = { "migrations/0001_documents.ts": module(`[${documents}]`) };
const config = (text: string) => ({ ...good, "migrate.config.ts": `export default ${text};\n` });
const target = (text: string) => config(`{ targets: { local: ${text} } }`);
const uri = (text: string) => target(`{ kind: "lance", uri: ${JSON.stringify(text)} }`);

const usage: readonly BadInput[] = [
  { title: "no command", args: ["--quiet"], code: 2, says: "give a command" },
  { title: "nothing but a flag", args: ["--json=false"], code: 2, says: "give a command" },
  { title: "an unknown command", args: ["frobnicate"], code: 2, says: "there is no command frobnicate" },
  {
    title: "a mistyped command",
    args: ["sttus"],
    code: 2,
    says: "there is no command sttus; did you mean status?",
  },
  { title: "a command in capitals", args: ["UP"], code: 2, says: "there is no command UP; did you mean up?" },
  { title: "a mistyped command with a flag", args: ["plna", "--to", "1"], code: 2, says: "did you mean plan?" },
  { title: "two commands", args: ["up", "status"], code: 2, says: "status; see migrate up --help" },
  { title: "an unknown flag", args: ["up", "--frobnicate"], code: 2, says: "frobnicate; see migrate up --help" },
  ...["rename", "retype"].map((word) => ({
    title: `a flag that is named like the step: ${word}`,
    args: ["new", "x", `--${word}-column=a.b:c`],
    code: 2 as const,
    says: `no flag --${word}-column; did you mean --${word}?`,
  })),
  {
    title: "a contract given twice",
    args: ["plan", "--contract=a.json", "--contract=b.json"],
    code: 2,
    says: "--contract must be given once, with several paths separated by commas",
  },
  { title: "a mistyped flag", args: ["up", "--acept=lossy"], code: 2, says: "no flag --acept; did you mean --accept?" },
  { title: "an unknown short flag", args: ["up", "-x"], code: 2, says: "x; see migrate up --help" },
  { title: "the flag of another command", args: ["status", "--dry-run"], code: 2, says: "dry-run" },
  { title: "a flag in camel case", args: ["up", "--dryRun"], code: 2, says: "dryRun" },
  {
    title: "an unknown flag behind flags with values",
    args: ["--target", "local", "up", "--frobnicate"],
    code: 2,
    says: "frobnicate; see migrate up --help",
  },
  { title: "an extra word", args: ["up", "0001"], code: 2, says: "0001; see migrate up --help" },
  { title: "an extra word behind --", args: ["up", "--", "0001"], code: 2, says: "0001" },
  { title: "--to twice", args: ["up", "--to", "1", "--to", "2"], code: 2, says: "--to is given twice" },
  {
    title: "a switch and its contrary",
    args: ["up", "--dry-run", "--no-dry-run"],
    code: 2,
    says: "--dry-run is given twice",
  },
  { title: "a short switch twice", args: ["up", "-q", "-q"], code: 2, says: "--quiet is given twice" },
  { title: "a switch twice in one word", args: ["up", "-qvq"], code: 2, says: "--quiet is given twice" },
  { title: "a short and a long one", args: ["up", "-v", "--verbose"], code: 2, says: "--verbose is given twice" },
  { title: "a short one and its contrary", args: ["up", "-q", "--no-quiet"], code: 2, says: "--quiet is given twice" },
  { title: "a short one with dashes", args: ["up", "--q", "--no-q"], code: 2, says: "--quiet is given twice" },
  { title: "a short one with a value", args: ["up", "-v=much"], code: 2, says: "--verbose takes no value" },
  { title: "a switch twice", args: ["repair", "--yes", "--yes=true"], code: 2, says: "--yes is given twice" },
  { title: "--to without a value", args: ["up", "--to"], code: 2, says: "--to" },
  { title: "--to with a word", args: ["up", "--to", "abc"], code: 2, says: "--to must be the number" },
  {
    title: "--to with a file name",
    args: ["up", "--to", "0001_documents"],
    code: 2,
    says: "--to must be the number",
  },
  { title: "--to below zero", args: ["up", "--to", "-1"], code: 2, says: "--to must be the number" },
  { title: "--to with a fraction", args: ["plan", "--to", "1.5"], code: 2, says: "--to must be the number" },
  { title: "--to a number that is not there", args: ["up", "--to", "99"], code: 2, says: "there is no such migration" },
  {
    title: "--to where there are no files",
    args: ["up", "--to", "1"],
    files: { "migrations/": "" },
    code: 2,
    says: "",
  },
  {
    title: "--wait with a word",
    args: ["up", "--wait", "x"],
    code: 2,
    says: "--wait must be a number of seconds from 0 to 86400 (a day)",
  },
  {
    title: "--wait below zero",
    args: ["up", "--wait", "-1"],
    code: 2,
    says: "--wait must be a number of seconds from 0 to 86400 (a day)",
  },
  { title: "--wait as a power", args: ["up", "--wait", "1e9"], code: 2, says: "from 0 to 86400 (a day)" },
  { title: "--lease below zero", args: ["up", "--lease", "-1"], code: 2, says: "from 1 to 86400 (a day)" },
  { title: "--wait without a value", args: ["up", "--wait"], code: 2, says: "--wait" },
  { title: "--dry-run with a value", args: ["up", "--dry-run=please"], code: 2, says: "--dry-run takes no value" },
  { title: "--dry-run with a number", args: ["up", "--dry-run=1"], code: 2, says: "--dry-run takes no value" },
  {
    title: "--allow-out-of-order with a value",
    args: ["up", "--allow-out-of-order=x"],
    code: 2,
    says: "takes no value",
  },
  { title: "--json with a value", args: ["up", "--json=lines"], code: 2, says: "--json takes no value" },
  { title: "--target without a value", args: ["up", "--target"], code: 2, says: "--target" },
  { title: "--target twice", args: ["up", "-t", "a", "--target", "b"], code: 2, says: "--target is given twice" },
  { title: "an unknown --target", args: ["up", "--target", "moon"], code: 2, says: 'no target "moon"' },
  { title: "a --target that every object has", args: ["up", "-t", "toString"], code: 2, says: 'no target "toString"' },
  { title: "--config twice", args: ["up", "-c", "a.ts", "-c", "b.ts"], code: 2, says: "--config is given twice" },
  { title: "a --config that is missing", args: ["up", "--config", "absent.ts"], code: 2, says: "absent.ts" },
  { title: "a --config that is a folder", args: ["up", "--config", "migrations"], code: 2, says: "migrations" },
  {
    title: "verify with a table's name",
    args: ["verify", "documents"],
    code: 2,
    says: "migrate verify takes a name only with --write",
  },
  { title: "verify --ledger with a value", args: ["verify", "--ledger=x"], code: 2, says: "--ledger takes no value" },
  { title: "verify with the flag of repair", args: ["verify", "--yes"], code: 2, says: "yes; see migrate verify" },
  { title: "repair --yes with a value", args: ["repair", "--yes=please"], code: 2, says: "--yes takes no value" },
  { title: "repair -y", args: ["repair", "-y"], code: 2, says: "y; see migrate repair" },
  { title: "repair --to with a word", args: ["repair", "--to", "now"], code: 2, says: "--to must be the number" },
  { title: "repair --to no action", args: ["repair", "--to", "3.0"], code: 2, says: "--to must be the number" },
  { title: "repair --to without a value", args: ["repair", "--to"], code: 2, says: "--to" },
  { title: "repair --to twice", args: ["repair", "--to", "1", "--to", "2"], code: 2, says: "--to is given twice" },
  {
    title: "repair --to a number that is not there",
    args: ["repair", "--to", "99"],
    code: 2,
    says: "there is no such migration",
  },
  {
    title: "repair --wait with a word",
    args: ["repair", "--yes", "--wait", "x"],
    code: 2,
    says: "--wait must be a number of seconds from 0 to 86400 (a day)",
  },
  { title: "new without a name", args: ["new"], code: 2, says: "migrate new needs a name" },
  { title: "new with an empty name", args: ["new", ""], code: 2, says: "is not a valid name for a migration" },
  {
    title: "new with a path as its name",
    args: ["new", "../evil"],
    code: 2,
    says: "is not a valid name for a migration",
  },
  { title: "new with a backslash", args: ["new", "..\\evil"], code: 2, says: "is not a valid name for a migration" },
  { title: "new with an umlaut", args: ["new", "änderung"], code: 2, says: "is not a valid name for a migration" },
  { title: "new with a dot", args: ["new", "v1.2"], code: 2, says: "is not a valid name for a migration" },
  { title: "new with two names", args: ["new", "one", "two"], code: 2, says: "two; see migrate new --help" },
  { title: "new with a name of 300 letters", args: ["new", "a".repeat(300)], code: 2, says: "" },
];

const configuration: readonly BadInput[] = [
  { title: "a syntax error", files: config("{ targets: "), code: 2, says: "migrate.config.ts can't be loaded" },
  {
    title: "no default export",
    files: { ...good, "migrate.config.ts": "export const a = 1;" },
    code: 2,
    says: "by default",
  },
  { title: "null", files: config("null"), code: 2, says: "migrate.config.ts" },
  { title: "a list", files: config("[]"), code: 2, says: "must be an object" },
  { title: "a function", files: config("() => ({})"), code: 2, says: "must be an object" },
  { title: "a promise", files: config("Promise.resolve({ targets: 1 })"), code: 2, says: "migrate.config.ts" },
  { title: "an unknown key", files: config("{ migration: 'here' }"), code: 2, says: "did you mean migrations?" },
  {
    title: "an unknown key of a target",
    files: target(`{ kind: "lance", url: "a" }`),
    code: 2,
    says: "did you mean uri?",
  },
  { title: "a folder that is a number", files: config("{ migrations: 3 }"), code: 2, says: "migrations must be" },
  {
    title: "an empty migrations folder name",
    files: config("{ migrations: '' }"),
    code: 2,
    says: "migrations must be",
  },
  { title: "a missing migrations folder", files: config("{ migrations: 'absent' }"), code: 2, says: "does not exist" },
  {
    title: "a migrations folder that is a file",
    files: config("{ migrations: 'package.json' }"),
    code: 2,
    says: "is a file",
  },
  { title: "a target that is a number", files: config("{ target: 1 }"), code: 2, says: "target must be" },
  { title: "a chosen target that is missing", files: config("{ target: 'moon' }"), code: 2, says: 'no target "moon"' },
  { title: "targets as a list", files: config("{ targets: [] }"), code: 2, says: "targets must be an object" },
  { title: "no targets", files: config("{ targets: {} }"), code: 2, says: "targets must hold at least one target" },
  { title: "a target that is a text", files: target("'.lancedb'"), code: 2, says: "must be an object with a kind" },
  { title: "a target without a kind", files: target("{ uri: 'a' }"), code: 2, says: "kind must be one of" },
  { title: "an unknown kind", files: target("{ kind: 'mysql' }"), code: 2, says: "it must be one of" },
  {
    title: "a kind that every object has",
    files: target("{ kind: 'constructor' }"),
    code: 2,
    says: "must be one of",
  },
  {
    title: "several targets and no choice",
    files: config(`{ targets: { one: { kind: "lance", uri: "a" }, two: { kind: "lance", uri: "b" } } }`),
    code: 2,
    says: "has several targets (one, two)",
  },
  {
    title: "a lease of 0 seconds",
    files: config("{ leaseSeconds: 0 }"),
    code: 2,
    says: "leaseSeconds must be a number of seconds from 1 to 86400 (a day)",
  },
  {
    title: "a lease as text",
    files: config("{ leaseSeconds: '30' }"),
    code: 2,
    says: "leaseSeconds must be a number",
  },
  { title: "a lease of NaN", files: config("{ leaseSeconds: NaN }"), code: 2, says: "leaseSeconds must be a number" },
  {
    title: "a lease without end",
    files: config("{ leaseSeconds: Infinity }"),
    code: 2,
    says: "leaseSeconds must be",
  },
  {
    title: "a wait below zero",
    files: config("{ waitSeconds: -1 }"),
    code: 2,
    says: "waitSeconds must be a number of seconds from 0 to 86400 (a day)",
  },
  {
    title: "a ledger with a slash",
    files: config("{ ledger: 'a/b' }"),
    code: 2,
    says: "ledger must be a table's name",
  },
  {
    title: "a ledger without a name",
    files: config("{ ledger: '' }"),
    code: 2,
    says: "ledger must be a table's name",
  },
  { title: "a ledger named ..", files: config("{ ledger: '..' }"), code: 2, says: "ledger must be a table's name" },
  { title: "a long ledger name", files: config(`{ ledger: "${"l".repeat(61)}" }`), code: 2, says: "at most 60" },
  { title: "a missing uri", files: target(`{ kind: "lance" }`), code: 2, says: "targets.local: uri" },
  { title: "a uri that is a number", files: target(`{ kind: "lance", uri: 5 }`), code: 2, says: "targets.local: uri" },
  { title: "an empty uri", files: uri(""), code: 2, says: "uri is empty" },
  { title: "a blank uri", files: uri("  "), code: 2, says: "uri is empty" },
  { title: "an http uri", files: uri("http://localhost:1"), code: 2, says: "address of a service" },
  { title: "a cloud uri", files: uri("db://analytics"), code: 2, says: "LanceDB Cloud" },
  { title: "an ftp uri", files: uri("ftp://host/a"), code: 2, says: "scheme that the engine does not know (ftp:)" },
  { title: "a file uri with a host", files: uri("file://host/a"), code: 2, says: "targets.local: uri" },
  { title: "a uri with a NUL", files: uri("a\0b"), code: 2, says: "NUL" },
  {
    title: "a storage option that is a number",
    files: target(`{ kind: "lance", uri: "a", storageOptions: { timeout: 5 } }`),
    code: 2,
    says: "storageOptions.timeout",
  },
  {
    title: "a file format that loses nulls",
    files: target(`{ kind: "lance", uri: "a", newTables: { dataStorageVersion: "legacy" } }`),
    code: 2,
    says: 'newTables.dataStorageVersion must be one of "2.0", "2.1", "2.2"',
  },
  {
    title: "stable row ids that are a text",
    files: target(`{ kind: "lance", uri: "a", newTables: { stableRowIds: "true" } }`),
    code: 2,
    says: "newTables.stableRowIds must be true or false",
  },
  {
    title: "a uri that is a file",
    files: { ...uri("data"), data: "not a database" },
    code: 6,
    says: "target local can't be reached",
  },
  {
    title: "a uri under a file",
    files: { ...uri("data/db"), data: "a file" },
    code: 6,
    says: "target local can't be reached",
  },
  { title: "a throw", files: { ...good, "migrate.config.ts": "throw new Error('no luck')" }, code: 2, says: "no luck" },
  {
    title: "a thrown undefined",
    files: { ...good, "migrate.config.ts": "throw undefined" },
    code: 2,
    says: "can't be loaded",
  },
  {
    title: "a thrown object",
    files: { ...good, "migrate.config.ts": "throw { a: 1 }" },
    code: 2,
    says: "can't be loaded",
  },
  {
    title: "an enum",
    files: { ...good, "migrate.config.ts": "enum A { B }\nexport default {}" },
    code: 2,
    says: "leave out enums",
  },
  { title: "a missing import", files: { ...good, "migrate.config.ts": "import 'absent'" }, code: 2, says: "absent" },
  {
    title: "an await without end",
    args: ["up", "--load-timeout", "2"],
    files: { ...good, "migrate.config.ts": "await new Promise(() => {});\nexport default {};" },
    code: 2,
    says: "migrate.config.ts",
  },
  { title: "JSON", args: ["up", "-c", "package.json"], code: 2, says: "package.json" },
];

const file = (name: string) => ({ [`migrations/${name}`]: module(`[${documents}]`) });
const noName = { code: 4, says: "is not a valid name for a migration file" } as const;

const fileNames: readonly BadInput[] = [
  { title: "a name without a number", files: file("documents.ts"), ...noName },
  { title: "a number without a name", files: file("0001.ts"), ...noName },
  { title: "a number and an underscore", files: file("0001_.ts"), ...noName },
  { title: "a dash after the number", files: file("0001-documents.ts"), ...noName },
  { title: "a .cjs file", files: file("0001_documents.cjs"), ...noName },
  { title: "a .cts file", files: file("0001_documents.cts"), ...noName },
  { title: "a .tsx file", files: file("0001_documents.tsx"), ...noName },
  { title: "an extension in capitals", files: file("0001_documents.TS"), ...noName },
  { title: "a space in the name", files: file("0001_my documents.ts"), ...noName },
  { title: "a leading space", files: file(" 0001_documents.ts"), ...noName },
  { title: "a sign before the number", files: file("-1_documents.ts"), ...noName },
  { title: "an umlaut in the name", files: file("0001_dokumentä.ts"), ...noName },
  { title: "two extensions", files: file("0001_documents.test.ts"), ...noName },
  { title: "a number that is too large", files: file("99999999999999999999_documents.ts"), ...noName },
  {
    title: "a number used twice",
    files: { ...file("0001_documents.ts"), ...file("1_authors.ts") },
    code: 4,
    says: "have the same number 0001",
  },
  {
    title: "the same migration in two languages",
    files: { ...file("0001_documents.ts"), ...file("0001_documents.js") },
    code: 4,
    says: "have the same number 0001",
  },
  {
    title: "a link that leads nowhere",
    arrange: (folder) => symlinkSync("absent.ts", join(folder, "migrations", "0002_link.ts")),
    code: 4,
    says: "0002_link.ts can't be loaded",
  },
];

const text = (source: string) => ({ "migrations/0001_bad.ts": source });
const list = (items: string) => text(module(items));

const modules: readonly BadInput[] = [
  { title: "an empty file", files: text(""), code: 4, says: "0001_bad.ts exports no up" },
  { title: "a default export", files: text("export default [];"), code: 4, says: "0001_bad.ts exports no up" },
  { title: "an up that is a function", files: list("() => []"), code: 4, says: "steps are data, not code" },
  { title: "an up without steps", files: list("[]"), code: 4, says: "0001_bad.ts exports no steps in up" },
  { title: "an up that is a text", files: list(`"step"`), code: 4, says: "an up that is no array" },
  { title: "an up that is null", files: list("null"), code: 4, says: "0001_bad.ts exports up without a value" },
  { title: "an up that is one step", files: list(documents), code: 4, says: "an up that is no array" },
  {
    title: "an up that is a promise",
    files: list(`Promise.resolve([${documents}])`),
    code: 4,
    says: "an up that is no array",
  },
  { title: "a syntax error", files: text("export const up = [;"), code: 4, says: "0001_bad.ts can't be loaded" },
  { title: "half a file", files: text("export const up = [\n  {"), code: 4, says: "0001_bad.ts can't be loaded" },
  { title: "bytes that are no text", files: text("\u0000\u0001\u0002"), code: 4, says: "0001_bad.ts can't be loaded" },
  { title: "an enum", files: text("enum A { B }\nexport const up = [];"), code: 4, says: "leave out enums" },
  { title: "a namespace", files: text("namespace A { export const b = 1 }"), code: 4, says: "leave out enums" },
  {
    title: "a throw",
    files: text("throw new Error('no luck')"),
    code: 4,
    says: "0001_bad.ts can't be loaded: no luck",
  },
  { title: "a throw of several lines", files: text("throw new Error('one\\n  at two\\nthree')"), code: 4, says: "one" },
  { title: "a throw without words", files: text("throw new Error()"), code: 4, says: "0001_bad.ts can't be loaded" },
  { title: "a thrown undefined", files: text("throw undefined"), code: 4, says: "0001_bad.ts can't be loaded" },
  { title: "a thrown null", files: text("throw null"), code: 4, says: "0001_bad.ts can't be loaded" },
  { title: "a thrown object", files: text("throw { a: 1 }"), code: 4, says: "0001_bad.ts can't be loaded" },
  {
    title: "a rejection with undefined",
    files: text("await Promise.reject()"),
    code: 4,
    says: "0001_bad.ts can't be loaded",
  },
  { title: "a missing package", files: text("import 'absent-package'"), code: 4, says: "absent-package" },
  { title: "a missing file", files: text("import './absent.ts'"), code: 4, says: "absent.ts" },
  {
    title: "a builder that does not exist",
    files: text(`import { addColunm } from "lance-migrate"`),
    code: 4,
    says: "addColunm",
  },
  {
    title: "a call of what is not there",
    files: list("[m.addColunm('a')]"),
    code: 4,
    says: "m.addColunm is not a function",
  },
  ...(
    [
      ["a timer that throws", `setTimeout(() => { throw new Error("no luck") });`, "no luck"],
      ["a promise that fails", `void Promise.reject(new Error("no luck"));`, "no luck"],
      ["a promise that fails with an object", `void Promise.reject({ status: 7, more: {} });`, `{"status":7}`],
      ["a promise that fails without a word", `void Promise.reject();`, "what was thrown has no message"],
    ] as const
  ).map(([title, source, says]): BadInput => ({
    title: `${title} and that nothing waits for`,
    files: text(`${source}\nawait new Promise((done) => setTimeout(done, 1000));\nexport const up = [];`),
    code: 1,
    says: `an error was thrown that nothing awaits: ${says}; where a migration or the configuration started it, await it there`,
  })),
  {
    title: "an await without end",
    args: ["up", "--load-timeout", "2"],
    files: text("await new Promise(() => {});\nexport const up = [];"),
    code: 4,
    says: "0001_bad.ts",
  },
];

const step = (source: string) => list(`[${documents}, ${source}]`);
const badStep = (title: string, source: string, says: string): BadInput => ({
  title,
  files: step(source),
  code: 4,
  says,
});
const column = (title: string, type: string, says: string): BadInput =>
  badStep(title, `m.createTable("other", { a: ${type} })`, says);

const steps: readonly BadInput[] = [
  badStep("a number for a step", "5", "0001_bad.ts, step 2: is not a step"),
  badStep("null for a step", "null", "0001_bad.ts, step 2: is not a step"),
  badStep("undefined for a step", "undefined", "0001_bad.ts, step 2: is not a step"),
  badStep("a text for a step", `"rename title"`, "0001_bad.ts, step 2: is not a step"),
  badStep("a builder that was not called", "m.renameColumn", "0001_bad.ts, step 2"),
  badStep("a list of steps for a step", `[${documents}]`, "0001_bad.ts, step 2: is not a step"),
  badStep("a promise of a step", "Promise.resolve()", "0001_bad.ts, step 2: is not a step"),
  badStep("a hole in the list", ", m.setNullable('documents', 'id', true)", "0001_bad.ts, step 2: is not a step"),
  badStep("a mistyped kind", `{ kind: "renameColum" }`, "did you mean renameColumn?"),
  badStep("an unknown kind", `{ kind: "frobnicate" }`, "there is no step kind frobnicate"),
  badStep("a kind that every object has", `{ kind: "toString" }`, "there is no step kind toString"),
  badStep(
    "an extra field",
    `{ ...m.renameColumn("documents", "title", "headline"), note: "x" }`,
    "step 2 (renameColumn): holds an unknown key note",
  ),
  badStep("a missing name", `m.renameColumn("documents", "title")`, "step 2 (renameColumn): name must be the new name"),
  badStep("a missing path", `m.renameColumn("documents")`, "path must be the path of a column"),
  badStep("no arguments", `m.renameColumn()`, "table must be the name of a table"),
  badStep("a table that is a number", `m.renameColumn(1, "title", "headline")`, "table must be the name of a table"),
  badStep("a path that is a list", `m.renameColumn("documents", ["a"], "b")`, "path must be the path of a column"),
  badStep("a nullable that is a text", `m.setNullable("documents", "title", "no")`, "nullable must be true or false"),
  badStep("a nullable that is missing", `m.setNullable("documents", "title")`, "nullable must be true or false"),
  badStep("a function inside", `m.setNullable("documents", "title", () => true)`, "nullable is a function"),
  badStep("a symbol inside", `m.setNullable("documents", "title", Symbol("x"))`, "nullable is a symbol"),
  badStep("a bigint inside", `m.createTable("other", { a: m.vector(8n) })`, "is a bigint"),
  badStep("NaN inside", `m.createTable("other", { a: m.vector(NaN) })`, "is NaN"),
  badStep("a Date inside", `m.renameColumn("documents", "title", new Date())`, "name is a Date"),
  badStep("a Map inside", `m.renameColumn("documents", "title", new Map())`, "name is a Map"),
  badStep(
    "a step that contains itself",
    `(() => { const s = { ...m.renameColumn("documents", "title", "b") }; s.self = s; return s; })()`,
    "0001_bad.ts, step 2 (renameColumn)",
  ),
  badStep("a type that is a text", `m.retypeColumn("documents", "id", "int64")`, "type must be a type such as int64()"),
  badStep("a type that was not called", `m.retypeColumn("documents", "id", m.int64)`, "type must be a type such as"),
  badStep("a missing type", `m.retypeColumn("documents", "id")`, "type must be a type such as int64()"),
  badStep(
    "notNull in a retype",
    `m.retypeColumn("documents", "id", m.int64().notNull())`,
    "notNull() has no place here; use setNullable",
  ),
  badStep(
    "notNull in an alteration",
    `m.alterColumns("documents", [{ path: "id", type: m.int64().notNull() }])`,
    "notNull() has no place here; use setNullable",
  ),
  badStep("a column that is a text", `m.createTable("other", { a: "int64" })`, "a.type must be a type such as int64()"),
  badStep("columns as a list", `m.createTable("other", [m.int32()])`, "0001_bad.ts, step 2 (createTable)"),
  badStep("columns as a text", `m.createTable("other", "a int")`, "columns must be an object of columns"),
  badStep("a table without columns", `m.createTable("other", {})`, "columns must have at least one column"),
  badStep("no columns at all", `m.createTable("other")`, "columns must be an object of columns"),
  column("a precision of 39", "m.decimal128(39, 2)", "precision must be at most 38"),
  column("a precision of 0", "m.decimal128(0, 0)", "precision must be at least 1"),
  column("a scale above the precision", "m.decimal128(5, 6)", "scale must be at most the precision"),
  column("a scale below zero", "m.decimal128(5, -1)", "scale must be at least 0"),
  column("a decimal without a scale", "m.decimal128(5)", "scale must be a whole number"),
  column("a vector of length 0", "m.vector(0)", "length must be at least 1"),
  column("a vector of half a number", "m.vector(1.5)", "length must be a whole number"),
  column("a vector of a text's length", `m.vector("8")`, "length must be a whole number"),
  column("a vector that is too long", "m.vector(2 ** 31)", "length"),
  column("a vector of text", "m.vector(8, m.utf8())", "fixed width"),
  column("a vector of not null items", "m.vector(8, m.float32().notNull())", "can't be notNull()"),
  column("a list of nothing", "m.list()", "must be a type such as int64()"),
  column("a list of a text", `m.list("int32")`, "must be a type such as int64()"),
  column("a struct without fields", "m.struct({})", "must have at least one field"),
  column("a struct of nothing", "m.struct()", "0001_bad.ts, step 2 (createTable)"),
  column("a field that is no type", "m.struct({ b: 5 })", "b.type must be a type such as int64()"),
  column("bytes of length 0", "m.fixedSizeBinary(0)", "length must be at least 1"),
  column("an unknown zone", `m.timestamp("us", "Mars/Phobos")`, "must be a time zone's name"),
  column("an offset for a zone", `m.timestamp("us", "+02:00")`, "the engine takes no offsets"),
  column("an empty zone", `m.timestamp("us", "")`, "must be a time zone's name"),
  column("a timestamp in minutes", `m.timestamp("m")`, 'unit must be "s", "ms", "us" or "ns"'),
  column("a duration without a unit", "m.duration()", 'unit must be "s", "ms", "us" or "ns"'),
  column("a time32 in microseconds", `m.time32("us")`, 'unit must be "s" or "ms"'),
  column("a time64 in seconds", `m.time64("s")`, 'unit must be "us" or "ns"'),
  column("a dictionary of lists", "m.dictionary(m.int32(), m.list(m.utf8()))", "must be an integer, float, text"),
  column("a dictionary with a text index", "m.dictionary(m.utf8(), m.utf8())", "must be an integer type"),
  column("a dictionary of nothing", "m.dictionary()", "0001_bad.ts, step 2 (createTable)"),
  column("a null type that is not null", "m.nullType().notNull()", "can't be notNull()"),
  badStep("no alterations", `m.alterColumns("documents", [])`, "alterations must have at least one change"),
  badStep("alterations that are no list", `m.alterColumns("documents", {})`, "alterations must be a list of changes"),
  badStep("missing alterations", `m.alterColumns("documents")`, "alterations must be a list of changes"),
  badStep("an alteration that is null", `m.alterColumns("documents", [null])`, "0001_bad.ts, step 2 (alterColumns)"),
  badStep(
    "an alteration that changes nothing",
    `m.alterColumns("documents", [{ path: "title" }])`,
    "must have one of rename, type and nullable",
  ),
  badStep(
    "an unknown key of an alteration",
    `m.alterColumns("documents", [{ path: "title", name: "headline" }])`,
    "holds an unknown key name",
  ),
];

const tableNamed = (title: string, name: string, says: string): BadInput =>
  badStep(title, `m.createTable(${JSON.stringify(name)}, { a: m.int32() })`, says);
const columnNamed = (title: string, name: string, says: string): BadInput =>
  badStep(title, `m.createTable("other", { [${JSON.stringify(name)}]: m.int32() })`, says);
const renamedTo = (title: string, name: string, says: string): BadInput =>
  badStep(title, `m.renameColumn("documents", "title", ${JSON.stringify(name)})`, says);

const names: readonly BadInput[] = [
  tableNamed("a table with a slash", "a/b", "may hold only letters"),
  tableNamed("a table with a space", "a b", "may hold only letters"),
  tableNamed("a table that leads out of the folder", "../evil", "may hold only letters"),
  tableNamed("a table named ..", "..", "is a folder's name"),
  tableNamed("a table of 250 letters", "a".repeat(250), "is longer than 249 characters"),
  tableNamed("a table without a name", "", "table must be the name of a table"),
  tableNamed("the ledger's own table", "_migrations", "is the ledger's"),
  tableNamed("a table like the ledger's markers", "_migrations.e7", "is the ledger's"),
  columnNamed("a column with a dot", "a.b", "holds a dot"),
  columnNamed("a column with a backtick", "a`b", "holds a backtick"),
  columnNamed("a column with a line end", "a\nb", "holds a control character"),
  columnNamed("a column with a NUL", "a\u0000b", "holds a control character"),
  columnNamed("a column without a name", "", "is empty"),
  columnNamed("a reserved column", "_rowid", "is reserved by the engine"),
  columnNamed("a column with half a character", "a\ud800", "0001_bad.ts, step 2 (createTable)"),
  badStep(
    "two columns that differ in case",
    `m.createTable("other", { id: m.int32(), ID: m.int32() })`,
    "which differ only in case",
  ),
  badStep(
    "two fields that differ in case",
    `m.createTable("other", { s: m.struct({ id: m.int32(), Id: m.int32() }) })`,
    "which differ only in case",
  ),
  badStep(
    "a reserved field deep inside",
    `m.createTable("other", { l: m.list(m.struct({ _rowaddr: m.int32() })) })`,
    "is reserved by the engine",
  ),
  renamedTo("a rename to a dotted name", "a.b", "holds a dot"),
  renamedTo("a rename to nothing", "", "is empty"),
  renamedTo("a rename to a reserved name", "_rowaddr", "is reserved by the engine"),
  renamedTo("a rename to a backtick", "`", "holds a backtick"),
  renamedTo("a rename to a tab", "a\tb", "holds a control character"),
];

const retype = (title: string, path: string, type: string, says: string): Fold => ({
  title,
  step: `m.retypeColumn("documents", "${path}", ${type})`,
  says,
});

interface Fold {
  readonly title: string;
  readonly step: string;
  readonly says: string;
}

/** A second migration over a database in which the first is applied. */
const folds: readonly Fold[] = [
  {
    title: "a missing table",
    step: `m.renameColumn("absent", "a", "b")`,
    says: "no migration before this creates a table absent",
  },
  { title: "a mistyped table", step: `m.renameColumn("docments", "a", "b")`, says: "did you mean documents?" },
  {
    title: "a missing column",
    step: `m.renameColumn("documents", "headline", "b")`,
    says: "documents has no column headline at this point; it has id, title",
  },
  { title: "a column in other case", step: `m.renameColumn("documents", "Title", "b")`, says: "has no column Title" },
  {
    title: "a missing field",
    step: `m.renameColumn("documents", "source.author", "b")`,
    says: "documents.source has no column author at this point; it has url, fetched",
  },
  {
    title: "a field of a column without fields",
    step: `m.renameColumn("documents", "title.a", "b")`,
    says: "has no column a",
  },
  {
    title: "an empty part of a path",
    step: `m.renameColumn("documents", "source..url", "b")`,
    says: "has an empty part",
  },
  { title: "an open backtick", step: 'm.renameColumn("documents", "`title", "b")', says: "is not closed" },
  {
    title: "a rename onto a column",
    step: `m.renameColumn("documents", "title", "score")`,
    says: "two columns named score",
  },
  {
    title: "a rename onto a field",
    step: `m.renameColumn("documents", "source.url", "fetched")`,
    says: "two columns named",
  },
  {
    title: "a rename onto other case",
    step: `m.renameColumn("documents", "title", "ID")`,
    says: "differ only in case",
  },
  {
    title: "a rename of a vector's item",
    step: `m.renameColumn("documents", "embedding.item", "x")`,
    says: "has no column item",
  },
  {
    title: "a chain in one call",
    step: `m.alterColumns("documents", [{ path: "title", rename: "a" }, { path: "a", rename: "b" }])`,
    says: "has no column a at this point",
  },
  {
    title: "two new names that are one",
    step: `m.alterColumns("documents", [{ path: "title", rename: "a" }, { path: "score", rename: "a" }])`,
    says: "two columns named a",
  },
  {
    title: "a path given twice",
    step: `m.alterColumns("documents", [{ path: "title", rename: "a" }, { path: "title", nullable: false }])`,
    says: "column title is altered twice in one call",
  },
  {
    title: "a path given twice in two spellings",
    step: 'm.alterColumns("documents", [{ path: "title", rename: "a" }, { path: "`title`", nullable: false }])',
    says: "column title is altered twice in one call",
  },
  {
    title: "a retype with not null",
    step: `m.alterColumns("documents", [{ path: "score", type: m.float64() }, { path: "title", nullable: false }])`,
    says: 'make "not null" a step after it',
  },
  {
    title: "a retype with a change inside",
    step: `m.alterColumns("documents", [{ path: "tags", type: m.largeList(m.utf8()) }, { path: "tags.item", rename: "x" }])`,
    says: "make them two steps",
  },
  retype("an integer to a float", "id", "m.float64()", "never casts between integers, floats and decimals"),
  retype("a float to an integer", "score", "m.int32()", "can't cast documents.score from float32 to int32"),
  retype("a float to a decimal", "score", "m.decimal128(10, 2)", "never casts between integers, floats and decimals"),
  retype("text to an integer", "title", "m.int32()", "can't cast documents.title from utf8 to int32"),
  retype("text to bytes", "title", "m.binary()", "can't cast documents.title from utf8 to binary"),
  retype("an integer to text", "id", "m.utf8()", "can't cast documents.id from int32 to utf8"),
  retype("a vector to another length", "embedding", "m.vector(16)", "never changes the length of a vector"),
  retype("a vector to integers", "embedding", "m.vector(8, m.int8())", "can't cast documents.embedding"),
  retype(
    "a struct to another",
    "source",
    "m.struct({ url: m.largeUtf8(), fetched: m.utf8() })",
    "one by one, by their paths",
  ),
  retype("a list of text to integers", "tags", "m.list(m.int32())", "can't cast documents.tags"),
  retype("a type to itself", "title", "m.utf8()", "documents.title is utf8 already; remove the step"),
  retype("a vector to itself", "embedding", "m.vector(8)", "already; remove the step"),
  {
    title: "a rename to its own name",
    step: `m.renameColumn("documents", "title", "title")`,
    says: "has that name already",
  },
  {
    title: "nullable twice",
    step: `m.setNullable("documents", "title", true)`,
    says: "is nullable already; remove the step",
  },
  {
    title: "not null twice",
    step: `m.setNullable("documents", "id", false)`,
    says: "is not null already; remove the step",
  },
  { title: "not null inside a list", step: `m.setNullable("documents", "tags.item", false)`, says: "inside a list" },
  { title: "a table created twice", step: documents, says: "table documents exists already at this point" },
  { title: "the ledger's columns", step: `m.renameColumn("_migrations", "by", "who")`, says: "is the ledger's" },
];

const tables: readonly BadInput[] = [
  {
    title: "a file in a table's place",
    files: { ...good, ".lancedb/documents.lance": "not a table" },
    code: 6,
    says: "target local can't be reached",
  },
  {
    title: "a table with a broken manifest",
    files: { ...good, ".lancedb/documents.lance/_versions/1.manifest": "not a manifest" },
    code: 6,
    says: "documents",
  },
  {
    title: "another table in the ledger's place",
    arrange: async (folder) => {
      const db = await lancedb.connect(join(folder, ".lancedb"));
      await db.createTable("_migrations", [{ version: 1, name: "somebody else's" }]);
      db.close();
    },
    code: 4,
    says: "if it is another table, give the ledger another name",
  },
  {
    title: "a table that is there already",
    arrange: async (folder) => {
      const db = await lancedb.connect(join(folder, ".lancedb"));
      await db.createTable("documents", [{ id: 1 }]);
      db.close();
    },
    code: 4,
    says: "table documents is not as the ledger records: it exists, but should not",
  },
];

const { project } = manyProjects();

/** One sentence in prose, as somebody who has to act on it wants it. */
function expectOneSentence(stderr: string, says: string): void {
  expect(stderr).toMatch(/^[^\n]+\n$/);
  expect(stderr).toContain(says);
  expect(stderr).not.toMatch(/undefined|\[object|\bat file:|node:internal|internal error|\bNaN,/);
  expect(stderr).not.toMatch(
    /ZodError|Invalid input|expected \w+, received|Unrecognized key|Too (big|small)|: undefined/,
  );
  expect(stderr).not.toMatch(/: *;|: *\n| {2}|: null\b/);
  expect(stderr.length).toBeLessThan(400);
}

async function expectRefused({ args = ["up"], files = good, arrange, code, says }: BadInput): Promise<void> {
  const bad = project(files);
  await arrange?.(bad.folder);
  const before = bad.tree();
  const { stdout, stderr, code: exitCode } = await bad.migrate(args);
  expectOneSentence(stderr, says);
  expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: code });
  expect(bad.tree()).toEqual(before);
}

describe("the command line", () => {
  test.concurrent.each(usage)("$title is refused", expectRefused);
});

describe("the configuration", () => {
  test.concurrent.each(configuration)("$title is refused", expectRefused);
});

describe("file names", () => {
  test.concurrent.each(fileNames)("$title is refused", expectRefused);
});

describe("migration modules", () => {
  test.concurrent.each(modules)("$title is refused", expectRefused);
});

describe("steps", () => {
  test.concurrent.each(steps)("$title is refused", expectRefused);
});

describe("names", () => {
  test.concurrent.each(names)("$title is refused", expectRefused);
});

describe("tables", () => {
  test.concurrent.each(tables)("$title is refused", expectRefused);
});

describe("a step over what is applied", () => {
  let applied: SmallProject;
  beforeAll(async () => {
    applied = project(good);
    expect(await applied.migrate(["up"])).toMatchObject({ code: 0 });
  });

  test.concurrent.each(folds)("$title is refused", async ({ step, says }) => {
    const bad = project({ ...good, "migrations/0002_bad.ts": module(`[${step}]`) });
    bad.copyDatabase(applied);
    const before = bad.tree();
    const { stdout, stderr, code } = await bad.migrate(["up"]);
    expectOneSentence(stderr, says);
    expect(stderr).toContain("0002_bad.ts, step 1");
    expect({ stdout, code }).toEqual({ stdout: "", code: 4 });
    expect(bad.tree()).toEqual(before);
  });
});

describe("with --json", () => {
  const some = [
    usage[0]!,
    usage.find(({ title }) => title === "an unknown flag")!,
    usage.find(({ title }) => title === "--to with a word")!,
    configuration[0]!,
    fileNames[0]!,
    modules[0]!,
    steps[0]!,
    names[0]!,
  ];
  test.concurrent.each(some)("$title is an error event on stdout and a sentence on stderr", async (bad) => {
    const { args = ["up"], files = good, code, says } = bad;
    const finished = await project(files).migrate([...args, "--json"]);
    expectOneSentence(finished.stderr, says);
    expect(finished.stdout).toMatch(/^[^\n]+\n$/);
    expect(JSON.parse(finished.stdout)).toEqual({
      event: "error",
      code: expect.stringMatching(/^ERR_[A-Z_]+$/),
      message: finished.stderr.trimEnd(),
    });
    expect(finished.code).toBe(code);
  });
});

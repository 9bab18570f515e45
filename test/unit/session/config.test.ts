import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { addedToConfig } from "../../../src/session/session-feature.ts";
import * as features from "../../../src/features/index.ts";
import { defineConfig } from "../../../src/migrator/config.ts";
import { loadConfig } from "../../../src/session/load-config.ts";
import { openTarget, targetNamed } from "../../../src/session/open-target.ts";
import { isMigrateError } from "../../../src/errors/migrate-error.ts";
import { openSession } from "../../../src/session/session.ts";
import { temporaryFolder } from "../../support/project.ts";

const defaults = {
  migrations: "migrations",
  ledger: "_migrations",
  targets: { local: { kind: "lance", uri: ".lancedb" } },
  leaseSeconds: 30,
  waitSeconds: 600,
  kinds: {},
};

const added = addedToConfig(Object.values(features));

/** A folder that holds one file. */
function aFolder(file: string, text: string): string {
  const folder = temporaryFolder();
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), text);
  return folder;
}

const withConfig = (value: string) => aFolder("migrate.config.mjs", `export default ${value};\n`);

async function thrownBy(work: () => Promise<unknown>): Promise<{ code: string; message: string }> {
  try {
    await work();
  } catch (error) {
    if (isMigrateError(error)) return { code: error.code, message: error.message };
    throw error;
  }
  throw new Error("nothing was thrown");
}

async function opened(folder: string, chosen?: string) {
  const config = await loadConfig(folder, undefined, undefined, added);
  return await openTarget(config, targetNamed(config, chosen));
}

test("without a configuration file the target is lance on .lancedb", async () => {
  const folder = temporaryFolder();
  expect(await loadConfig(folder)).toEqual({ ...defaults, file: "the default configuration", isDefault: true, folder });
});

test.each(["ts", "mts", "js", "mjs"])("migrate.config.%s is found and evaluated", async (extension) => {
  const folder = aFolder(`migrate.config.${extension}`, "export default { ledger: 'mine', leaseSeconds: 5 };\n");
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }\n');
  const expected = { ...defaults, ledger: "mine", leaseSeconds: 5, file: `migrate.config.${extension}`, folder };
  expect(await loadConfig(folder)).toEqual(expected);
});

const withFeatures = async (config: string) => await loadConfig(withConfig(config), undefined, undefined, added);

test("what a feature adds is taken as it is, and refused without the feature", async () => {
  const lint = { rules: { "full-rewrite": "off" } };
  expect(await withFeatures(JSON.stringify({ lint }))).toMatchObject({ lint });
  expect(await withFeatures("{ lint: {} }")).toMatchObject({ lint: {} });
  expect(await thrownBy(() => loadConfig(withConfig("{ lint: {} }")))).toMatchObject({ code: "ERR_CONFIG_INVALID" });
});

test("a key that a feature adds may be inherited", async () => {
  expect(await withFeatures("Object.create({ lint: {} })")).toMatchObject({ lint: {} });
});

test("a configuration elsewhere is named by its path, and its folder is where paths start", async () => {
  const folder = aFolder("deploy/production.config.mjs", "export default { migrations: 'schema' };\n");
  const config = await loadConfig(folder, "deploy/production.config.mjs");
  expect(config).toMatchObject({ migrations: "schema", file: "production.config.mjs", folder: join(folder, "deploy") });
});

test("defineConfig gives back what it is given", () => {
  const config = { targets: { local: { kind: "lance", uri: "data" } } } as const;
  expect(defineConfig(config)).toBe(config);
});

const bad: readonly { readonly config: string; readonly says: string }[] = [
  { config: "{ ledgr: 'a' }", says: "there is no setting ledgr; did you mean ledger?" },
  { config: "{ Targets: {} }", says: "there is no setting Targets; did you mean targets?" },
  { config: "{ colour: 'red' }", says: "there is no setting colour" },
  { config: "{ migrations: '' }", says: "migrations must be a folder's path" },
  ...["'src/db.d.ts'", "3", "['src/db.ts', 'db.js']", "[3]"].map((types) => ({
    config: `{ types: ${types} }`,
    says: "types must be the path of a .ts file, but no .d.ts, or of a .py file, or a list of such paths",
  })),
  { config: "{ migrations: 3 }", says: "migrations must be a folder's path" },
  { config: "{ ledger: '' }", says: "ledger must be a table's name: letters, digits, _, - and ." },
  { config: "{ ledger: 'my ledger' }", says: "ledger must be a table's name: letters, digits, _, - and ." },
  { config: "{ ledger: '../up' }", says: "ledger must be a table's name: letters, digits, _, - and ." },
  { config: "{ ledger: 'x'.repeat(61) }", says: "ledger must be at most 60 characters long" },
  { config: "{ ledger: 7 }", says: "ledger must be a table's name" },
  { config: "{ leaseSeconds: 0 }", says: "leaseSeconds must be a number of seconds from 1 to 86400 (a day)" },
  { config: "{ leaseSeconds: '5' }", says: "leaseSeconds must be a number of seconds from 1 to 86400 (a day)" },
  { config: "{ leaseSeconds: NaN }", says: "leaseSeconds must be a number of seconds from 1 to 86400 (a day)" },
  { config: "{ leaseSeconds: Infinity }", says: "leaseSeconds must be a number of seconds from 1 to 86400 (a day)" },
  { config: "{ leaseSeconds: 86401 }", says: "leaseSeconds must be a number of seconds from 1 to 86400 (a day)" },
  { config: "{ waitSeconds: -1 }", says: "waitSeconds must be a number of seconds from 0 to 86400 (a day)" },
  { config: "{ target: 3 }", says: "target must be the name of a target" },
  { config: "{ targets: {} }", says: "targets must hold at least one target" },
  { config: "{ targets: [] }", says: "targets must be an object of targets" },
  { config: "{ targets: null }", says: "targets must be an object of targets" },
  { config: "{ targets: { local: 'data' } }", says: "targets.local must be an object with a kind" },
  { config: "{ targets: { local: { uri: 'data' } } }", says: "targets.local.kind must be one of lance, rest" },
  { config: "{ format: ' ' }", says: "format must be a command or a function" },
  { config: "{ lint: 'all' }", says: "lint must be an object" },
  { config: "{ lint: { rule: {} } }", says: "lint: there is no setting rule; did you mean rules?" },
  { config: "{ lint: { rules: [] } }", says: "lint.rules must be an object of rules" },
  {
    config: "{ lint: { rules: { 'full-rewrite': true } } }",
    says: 'lint.rules.full-rewrite must be one of "off", "note", "warning", "error"',
  },
  { config: "'data'", says: "must be an object" },
  { config: "() => ({})", says: "must be an object" },
  { config: "undefined", says: "exports nothing by default; write export default defineConfig({ … })" },
];

test.each(bad)("the configuration $config is refused: $says", async ({ config, says }) => {
  expect(await thrownBy(() => withFeatures(config))).toEqual({
    code: "ERR_CONFIG_INVALID",
    message: `migrate.config.mjs: ${says}`,
  });
});

const local = (more: string) => `{ targets: { local: { kind: "lance", ${more} } } }`;

const badTargets: readonly { readonly config: string; readonly chosen?: string; readonly says: string }[] = [
  {
    config: "{ targets: { local: { kind: 'lanse', uri: 'a' } } }",
    says: 'targets.local.kind is "lanse"; it must be one of lance, rest',
  },
  {
    config: "{ targets: { local: { kind: 'toString' } } }",
    says: 'targets.local.kind is "toString"; it must be one of lance, rest',
  },
  { config: local("uri: ''"), says: "targets.local: uri is empty" },
  { config: local("uri: '  '"), says: "targets.local: uri is empty" },
  {
    config: local("uri: 'http://host'"),
    says: "targets.local: uri is the address of a service; a target of kind lance takes a folder or an object store",
  },
  {
    config: local("uri: 'HTTPS://host'"),
    says: "targets.local: uri is the address of a service; a target of kind lance takes a folder or an object store",
  },
  {
    config: local("uri: 'db://name'"),
    says: "targets.local: uri is an address of LanceDB Cloud; a target of kind lance takes a folder or an object store",
  },
  {
    config: local("uri: 'ftp://host/a'"),
    says: "targets.local: uri has a scheme that the engine does not know (ftp:)",
  },
  { config: local("url: 'a', uri: 'a'"), says: "targets.local: there is no setting url; did you mean uri?" },
  { config: local("uri: 'a', token: 'b'"), says: "targets.local: there is no setting token" },
  {
    config: "{ targets: { one: { kind: 'lance', uri: 'a' }, two: { kind: 'lance', uri: 'b' } } }",
    says: 'has several targets (one, two) and does not choose one; set "target" or pass --target',
  },
];

test.each(badTargets)("a target of $config is refused: $says", async ({ config, says }) => {
  const folder = withConfig(config);
  expect(await thrownBy(async () => opened(folder))).toEqual({
    code: "ERR_CONFIG_INVALID",
    message: `migrate.config.mjs: ${says}`,
  });
});

test.each([
  { what: "a missing uri", config: local("") },
  { what: "a uri of another type", config: local("uri: 7") },
  { what: "storage options of another type", config: local("uri: 'a', storageOptions: { timeout: 3 }") },
  { what: "an endpoint that is no address", config: local("uri: 's3://b', storageOptions: { endpoint: 'a:9' }") },
])("$what is refused in words that name the setting", async ({ config }) => {
  const folder = withConfig(config);
  const { code, message } = await thrownBy(async () => opened(folder));
  expect(code).toBe("ERR_CONFIG_INVALID");
  expect(message).toMatch(
    /^migrate\.config\.mjs: targets\.local: (uri|storageOptions\.(timeout|endpoint)) must be(gin)? /,
  );
});

test.each([
  { chosen: "three", config: "{ targets: { one: { kind: 'lance', uri: 'a' } } }", name: "three" },
  { chosen: undefined, config: "{ target: 'nope', targets: { one: { kind: 'lance', uri: 'a' } } }", name: "nope" },
  { chosen: "toString", config: "{ targets: { one: { kind: 'lance', uri: 'a' } } }", name: "toString" },
])("an unknown target $name is refused, naming those that there are", async ({ chosen, config, name }) => {
  const folder = withConfig(config);
  expect(await thrownBy(async () => opened(folder, chosen))).toEqual({
    code: "ERR_TARGET_UNKNOWN",
    message: `there is no target "${name}" in the configuration; it has one`,
  });
});

test.each([
  { what: "the one that is asked for", chosen: "two", config: "target: 'one'", name: "two" },
  { what: "the configuration's choice", chosen: undefined, config: "target: 'two'", name: "two" },
])("of several targets $what is opened", async ({ chosen, config, name }) => {
  const folder = withConfig(
    `{ ${config}, targets: { one: { kind: "lance", uri: "a" }, two: { kind: "lance", uri: "b" } } }`,
  );
  const target = await opened(folder, chosen);
  expect(target.name).toBe(name);
  await target.close();
});

test("a configuration file that is not there is refused by its name", async () => {
  expect(await thrownBy(() => loadConfig(temporaryFolder(), "other.config.ts"))).toEqual({
    code: "ERR_CONFIG_MISSING",
    message: "there is no configuration file other.config.ts; check --config",
  });
});

test.each([
  { what: "a syntax error", text: "export default {{;\n" },
  { what: "an error of its own", text: "throw new Error('no environment');\n" },
  { what: "an import of what is not there", text: "import 'no-such-package-at-all';\nexport default {};\n" },
])("a configuration with $what can't be loaded, and says so in one line", async ({ text }) => {
  const { code, message } = await thrownBy(() => loadConfig(aFolder("migrate.config.mjs", text)));
  expect(code).toBe("ERR_CONFIG_UNREADABLE");
  expect(message).toMatch(/^migrate\.config\.mjs can't be loaded: \S[^\n]*; run it with Node to see where$/);
});

test("a session's paths start at the configuration and its times are milliseconds", async () => {
  const folder = aFolder("deploy/migrate.config.mjs", "export default { leaseSeconds: 16.1, migrations: '../m' };\n");
  mkdirSync(join(folder, "m"));
  writeFileSync(join(folder, "m", "0001_first.mjs"), "export const up = [];\n");
  const { options, close } = await openSession({ folder, config: "deploy/migrate.config.mjs", waitSeconds: 3 });
  await close();
  expect(options.migrations.list()).toMatchObject([{ path: join(folder, "m", "0001_first.mjs") }]);
  expect(options).toMatchObject({
    ledger: "_migrations",
    // Whole: the ledger keeps it as an integer.
    lease: { duration: 16_100, patience: 3_000 },
  });
});

test.each([
  [{ leaseSeconds: 0 }, "leaseSeconds must be a number of seconds from 1 to 86400 (a day)"],
  [{ leaseSeconds: Number.NaN }, "leaseSeconds must be a number of seconds from 1 to 86400 (a day)"],
  [{ waitSeconds: -1 }, "waitSeconds must be a number of seconds from 0 to 86400 (a day)"],
  [{ loadSeconds: 0 }, "loadSeconds must be a number of seconds from 0.1 to 86400 (a day)"],
  [{ waitSecond: 5 }, "there is no setting waitSecond; did you mean waitSeconds?"],
  [{ dryRun: true }, "there is no setting dryRun"],
  [{ target: 3 }, "target must be the name of a target"],
  [{ emit: "all" }, "emit must be a function"],
  [{ signal: new AbortController() }, "signal must be an AbortSignal"],
] as readonly (readonly [object, string])[])("a session of %o is refused", async (wanted, problem) => {
  await expect(openSession({ folder: temporaryFolder(), ...wanted })).rejects.toMatchObject({
    code: "ERR_USAGE",
    details: { problem },
  });
});

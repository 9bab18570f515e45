import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { applyActions } from "../../../../src/actions/apply-action.ts";
import { bundleText, isBundle } from "../../../../src/features/bundle/bundle.ts";
import { migrationsInBundle } from "../../../../src/features/bundle/bundle-source.ts";
import { checksumOf, textHash } from "../../../../src/migrations/checksum.ts";
import type { Migration } from "../../../../src/migrations/load.ts";
import { loadMigrations, type MigrationSource } from "../../../../src/migrations/source.ts";
import { compileStep, parseStep, type Step } from "../../../../src/steps/registry.ts";
import * as m from "../../../../src/steps/index.ts";
import { int32, int64, utf8 } from "../../../../src/schema/declare/type-builders.ts";
import { beginning, drafts, stepOf } from "../../../sequences/draw.ts";
import * as fc from "../../../support/fast-check.ts";
import { temporaryFolder } from "../../../support/project.ts";
import { rounds } from "../../../support/rounds.ts";

const parsed = (step: unknown): Step => (parseStep(step) as { readonly step: Step }).step;
const create = parsed(m.createTable("t", { id: int32(), name: utf8() }, { rows: [{ id: 1, name: "β\r\n\u2028" }] }));
const rename = parsed(m.renameColumn("t", "name", "title"));

function aMigration(version: number, steps: readonly Step[], more: Partial<Migration> = {}): Migration {
  const file = `000${version}_step.ts`;
  return {
    version,
    name: "step",
    file,
    path: `/app/migrations/${file}`,
    textHash: textHash(file),
    steps,
    checksum: checksumOf(steps),
    ...more,
  };
}

/** With everything that a migration can have. */
const full: readonly Migration[] = [
  aMigration(1, [create], { after: "0000", accepts: ["lossy"], replaces: [] }),
  aMigration(3, [rename], {
    after: "0001",
    down: [parsed(m.renameColumn("t", "title", "name"))],
    ran: [[rename], [rename, rename]],
    was: [{ version: 2, name: "title", checksum: "3c6e0b8a9c15224a" }],
    replaces: [
      { version: 12_345, name: "a-b", checksum: "0000000000000000" },
      { version: 0, name: "c", checksum: "ffffffffffffffff" },
    ],
  }),
];

function sourceOf(text: string): MigrationSource {
  const path = join(temporaryFolder(), "all.json");
  writeFileSync(path, text);
  return migrationsInBundle(path);
}

async function allOf(source: MigrationSource): Promise<readonly Migration[]> {
  return await Promise.all(source.list().map(async (file) => await source.load(file)));
}

/** A migration as it is in a file, without what tells where it was read. */
function withoutPlace({ bundledFile, ...migration }: Migration) {
  return { ...migration, file: bundledFile ?? migration.file, bundle: undefined, path: undefined };
}

test("a bundle has format 2 only if a migration became one that was squashed too, which older releases do not know", () => {
  const became = { version: 2, name: "b", checksum: "3c6e0b8a9c15224a", became: "0003_one" };
  const replaces = [became, { version: 3, name: "one", checksum: "3c6e0b8a9c15224a" }];
  const made = bundleText([aMigration(4, [create], { replaces })]);
  expect(made).toContain('"migrationBundle": 2,');
  expect(sourceOf(made).list()).toMatchObject([{ replaces }]);
  expect(bundleText(full)).toContain('"migrationBundle": 1,');
});

test("a bundle without migrations is one", () => {
  expect(sourceOf(bundleText([])).list()).toEqual([]);
});

test("equal migrations make the same text, in whichever order their members are", () => {
  const [first, second] = full;
  const turned = Object.fromEntries(Object.entries(second!).toReversed()) as unknown as Migration;
  const steps = [Object.fromEntries(Object.entries(rename).toReversed()) as unknown as Step];
  expect(bundleText([first!, { ...turned, steps, path: "elsewhere" }])).toBe(bundleText(full));
});

test("each migration is on a line of its own", () => {
  const lines = bundleText(full).split("\n");
  expect(lines.filter((line) => line.includes('"file":"'))).toHaveLength(2);
});

test("steps of every kind come out of a bundle as they went in", async () => {
  const walk = fc.tuple(beginning, drafts);
  await fc.assert(
    fc.asyncProperty(walk, async ([first, more]) => {
      const database = new Map();
      const steps: Step[] = [];
      for (const draft of [first, ...more]) {
        const result = parseStep(stepOf(draft, database));
        if (!("step" in result)) continue;
        steps.push(result.step);
        try {
          applyActions(database, compileStep(result.step));
        } catch {
          // It can't work here, and a bundle holds it anyway.
        }
      }
      const migration = aMigration(1, steps.length === 0 ? [create] : steps);
      const [read] = await allOf(sourceOf(bundleText([migration])));
      expect(withoutPlace(read!)).toEqual(withoutPlace(migration));
    }),
    { numRuns: rounds(60, 2_000) },
  );
});

const text = bundleText(full);

test.each([
  { how: "with CRLF line ends", edit: (one: string) => one.replaceAll("\n", "\r\n") },
  { how: "with a byte order mark", edit: (one: string) => `\uFEFF${one}` },
])("a bundle $how is the same", async ({ edit }) => {
  expect((await allOf(sourceOf(edit(text)))).map(withoutPlace)).toEqual(full.map(withoutPlace));
  expect(isBundle(edit(text))).toBe(true);
});

const changed = {
  problem: "was changed after it was made",
  hint: expect.stringContaining("change the migration files instead"),
};
const foreign = { problem: "is not a bundle of migrations", hint: "make a new one with migrate build" };
const damaged = { problem: "is incomplete or damaged", hint: "copy it again, or make a new one with migrate build" };
const sealed = (one: string) => {
  const open = one.replace(/"hash": "[0-9a-f]*"/, '"hash": ""');
  return open.replace('"hash": ""', `"hash": "${textHash(open)}"`);
};

test.each([
  { what: "a changed name of a column", edit: (one: string) => one.replace('"title"', '"tittle"'), ...changed },
  {
    what: "a changed text hash",
    edit: (one: string) => one.replace(textHash("0001_step.ts"), textHash("x")),
    ...changed,
  },
  {
    what: "a changed hash",
    edit: (one: string) => one.replace(/"hash": "[0-9a-f]{8}/, '"hash": "00000000'),
    ...changed,
  },
  { what: "no hash", edit: (one: string) => one.replace(/ {2}"hash": .*\n/, ""), ...changed },
  { what: "other white space", edit: (one: string) => JSON.stringify(JSON.parse(one), undefined, 2), ...changed },
  { what: "an older format", edit: (one: string) => sealed(one.replace(": 1,", ": 0,")), ...changed },
  {
    what: "migrations that are no list",
    edit: () => sealed('{\n  "migrationBundle": 1,\n  "hash": "",\n  "migrations": {}\n}\n'),
    ...changed,
  },
  { what: "no name", edit: (one: string) => sealed(one.replace('"file":"0001_step.ts"', '"file":5')), ...changed },
  {
    what: "a name of no migration",
    edit: (one: string) => sealed(one.replace("0001_step.ts", "README.md")),
    ...changed,
  },
  { what: "no text hash", edit: (one: string) => sealed(one.replaceAll('"textHash"', '"text"')), ...changed },
  {
    what: "former names that are no list",
    edit: (one: string) => sealed(one.replace('"replaces":[]', '"replaces":5')),
    ...changed,
  },
  { what: "two of one number", edit: (one: string) => sealed(one.replace("0003_step.ts", "0001_step.ts")), ...changed },
  { what: "another order", edit: (one: string) => sealed(one.replace("0003_step.ts", "0000_step.ts")), ...changed },
  { what: "half of the text", edit: (one: string) => one.slice(0, one.length / 2), ...damaged },
  { what: "no last character", edit: (one: string) => one.trimEnd().slice(0, -1), ...damaged },
  { what: "conflict markers", edit: (one: string) => one.replace("    {", "<<<<<<< ours\n    {"), ...damaged },
  { what: "no text", edit: () => "", ...foreign },
  { what: "other JSON", edit: () => '{ "name": "package" }', ...foreign },
  { what: "null", edit: () => "null", ...foreign },
  { what: "a saved plan", edit: () => '{ "savedPlan": 1 }', ...foreign },
  { what: "no JSON", edit: () => "export default {};", ...foreign },
  {
    what: "a newer format",
    edit: (one: string) => sealed(one.replace(": 1,", ": 3,")),
    problem: "was made by a newer release of lance-migrate, in format 3",
    hint: "use that release here, or make the bundle with this one",
  },
])("a bundle with $what is refused", ({ edit, problem, hint }) => {
  const edited = edit(text);
  expect(edited).not.toBe(text);
  expect(() => sourceOf(edited).list()).toThrow(
    expect.objectContaining({
      code: "ERR_BUNDLE_INVALID",
      outcome: "usage",
      details: { file: expect.stringMatching(/all\.json$/), problem, hint },
    }),
  );
});

test("a bundle that is not there, and one that is a folder, are refused", () => {
  const folder = temporaryFolder();
  const refusalOf = (path: string) => () => migrationsInBundle(path).list();
  expect(refusalOf(join(folder, "none.json"))).toThrow(
    /^the bundle .*none\.json does not exist; check --bundle, or make one/,
  );
  expect(refusalOf(folder)).toThrow(
    /^the bundle .* can't be read: EISDIR: illegal operation on a directory; check --bundle/,
  );
});

test("steps from a bundle are checked like those of a file", async () => {
  const bad = { ...rename, name: 5 } as unknown as Step;
  const source = sourceOf(bundleText([aMigration(1, [create, bad])]));
  await expect(source.load(source.list()[0]!)).rejects.toMatchObject({
    code: "ERR_STEP_INVALID",
    details: { file: "0001_step.ts in all.json", step: 2, kind: "renameColumn" },
  });
});

test("a release in which the steps have another checksum asks for a new bundle", async () => {
  const source = sourceOf(bundleText([aMigration(1, [create], { checksum: checksumOf([rename]) })]));
  await expect(source.load(source.list()[0]!)).rejects.toMatchObject({
    code: "ERR_BUNDLE_INVALID",
    details: { hint: "make a new one with migrate build of this release" },
  });
});

test("minus zero stays what it is, and has the checksum of zero", async () => {
  const insert = (x: number) => parsed(m.insertRows("t", [{ id: 1, x }], { key: "id" }));
  const source = sourceOf(bundleText([aMigration(1, [insert(-0)])]));
  const { steps, checksum } = await source.load(source.list()[0]!);
  expect(steps).toEqual([insert(-0)]);
  expect(checksum).toBe(checksumOf([insert(0)]));
});

test("each list reads the bundle, and what was listed before is loaded as it was then", async () => {
  const path = join(temporaryFolder(), "all.json");
  writeFileSync(path, text);
  const source = migrationsInBundle(path);
  const files = source.list();
  const other = aMigration(1, [parsed(m.createTable("other", { id: int64() }))]);
  writeFileSync(path, bundleText([other]));
  expect((await allOf(source)).map(withoutPlace)).toEqual([other].map(withoutPlace));
  expect((await loadMigrations(source, files)).map(withoutPlace)).toEqual(full.map(withoutPlace));
});

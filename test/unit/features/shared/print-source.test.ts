/** Whatever steps there are: the file says just these, and a formatter would write it as it is. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { fillBuiltIn } from "../../../../src/features/author/scaffold/fill-built-in.ts";
import { fillTemplate } from "../../../../src/features/author/scaffold/fill-template.ts";
import type { Step } from "../../../../src/steps/registry.ts";
import { anyColumns, anyType } from "../../../support/drawn-tables.ts";
import * as fc from "../../../support/fast-check.ts";
import { root, temporaryFolder } from "../../../support/project.ts";
import { rounds } from "../../../support/rounds.ts";

/** Any step whose texts are made of these. */
function stepOf(unit: "binary" | "grapheme-ascii"): fc.Arbitrary<Step> {
  const text = fc.oneof(
    fc.string({ unit, maxLength: 60 }),
    fc.constantFrom(
      "id",
      "documents",
      "it's",
      'say "so"',
      "\\",
      "a\nb",
      "`",
      "${x}",
      "名前",
      "class",
      "1",
      "-0",
      "</script>",
    ),
  );
  const value = fc.oneof(
    text,
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), { maxLength: 40 }),
  );
  const row = fc.dictionary(text, fc.oneof(value, fc.dictionary(text, value, { maxKeys: 3 })), {
    maxKeys: 4,
    noNullPrototype: true,
  });

  /** What the builders make of any arguments: zod is asked when a migration is loaded. */
  return fc.oneof(
    fc.record({ kind: fc.constant("createTable" as const), table: text, columns: anyColumns.map((all) => [...all]) }),
    fc.record({ kind: fc.constant("retypeColumn" as const), table: text, path: text, type: anyType, using: text }),
    fc.record({ kind: fc.constant("renameColumn" as const), table: text, path: text, name: text }),
    fc.record({
      kind: fc.constant("insertRows" as const),
      table: text,
      rows: fc.array(row, { minLength: 1, maxLength: 4 }),
      key: text,
    }),
    fc.record({
      kind: fc.constant("alterColumns" as const),
      table: text,
      alterations: fc.array(
        fc.record({ path: text, rename: text, type: anyType, nullable: fc.boolean() }, { requiredKeys: ["path"] }),
        {
          minLength: 1,
          maxLength: 3,
        },
      ),
    }),
    fc.record({ kind: fc.constant("dropTable" as const), table: text }),
  ) as fc.Arbitrary<Step>;
}

const files = rounds(50, 300);

const plain = (one: unknown): unknown => JSON.parse(JSON.stringify(one));

test(`${files} files of random steps say just these, as a formatter would write them`, async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(root, join(folder, "node_modules", "lance-migrate"));
  writeFileSync(join(folder, "package.json"), `{ "type": "module" }\n`);
  writeFileSync(join(folder, "format.json"), `{ "printWidth": 80 }\n`);
  const some = (unit: "binary" | "grapheme-ascii") =>
    fc.sample(fc.array(stepOf(unit), { minLength: 1, maxLength: 3 }), { numRuns: files / 2, seed: 7 });
  // The line on which the table is created has 79 to 81 columns.
  const wide = [60, 61, 62].map((length): Step[] => [
    {
      kind: "createTable",
      table: "t".repeat(length),
      columns: [{ name: "id", type: { kind: "int32" }, nullable: true }],
    },
  ]);
  // A list of several objects, each with several values, is never on one line. Its last lines have 79 to 81 columns.
  const rows = [1, 2, 56, 57, 58].map((length) => ({ a: "a".repeat(length), b: length }));
  const tables = [2, 5].map((end): Step[] => [{ kind: "insertRows", table: "t", rows: rows.slice(0, end), key: "a" }]);
  const plainly = [...wide, ...tables, ...some("grapheme-ascii")];
  const drawn = [...plainly, ...some("binary")];
  const written = drawn.map((steps, at) => {
    const file = join(folder, `${at}.ts`);
    const content = fillBuiltIn(join(root, "templates/migration.ts"), {
      name: "drawn",
      steps,
      after: at % 3 === 0 ? "0007" : undefined,
    });
    writeFileSync(file, content);
    return { file, content, steps };
  });
  for (const { file, content, steps } of written) {
    const { up } = (await import(pathToFileURL(file).href)) as { readonly up: unknown };
    expect(plain(up), content).toEqual(plain(steps));
  }
  execFileSync(join(root, "node_modules/.bin/oxfmt"), ["-c", "format.json", "."], { cwd: folder });
  // How wide odd letters are nobody agrees on.
  const others = written.slice(0, plainly.length).flatMap(({ file, content }) => {
    const formatted = readFileSync(file, "utf8");
    return formatted === content ? [] : [`${content}\n--- would be\n${formatted}`];
  });
  expect(others.slice(0, 3)).toEqual([]);
});

test("a template that is not there is named", () => {
  const file = join(root, "templates/no-such-template.ts");
  expect(() => fillBuiltIn(file, { name: "one" })).toThrow(
    expect.objectContaining({ code: "ERR_TEMPLATE_MISSING", details: { file } }),
  );
});

test.each(["ts", "js"])(
  "the package's own template in %s is filled in as a project's equal template is",
  (language) => {
    const template = join(root, `templates/migration.${language}`);
    const steps = fc.array(stepOf("grapheme-ascii"), { minLength: 1, maxLength: 3 });
    const filling = fc.record(
      {
        name: fc.constantFrom("add_language", "x", "$&_one-two"),
        steps,
        down: steps,
        accepts: fc.constant(["lossy" as const]),
        replaces: fc.constant(["0001_one 123", "0002_two_with_a_very_long_name 456", "0003_three 789"]),
        after: fc.constant("0007"),
      },
      { requiredKeys: ["name", "steps"] },
    );
    const drawn = fc.sample(filling, { numRuns: 40, seed: 7 });
    for (const one of [{ name: "add_language" }, ...drawn])
      expect(fillBuiltIn(template, one)).toBe(fillTemplate(template, one));
  },
);

/** What `lint --sarif` writes, checked against the published schema of the format; with the built command. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../support/project.ts";
import { manyProjects, type SmallProject } from "./support/many-projects.ts";

const { project } = manyProjects();

interface Log {
  readonly runs: readonly [
    {
      readonly tool: { readonly driver: { readonly rules: readonly Rule[] } };
      readonly results: readonly Result[];
    },
  ];
}

interface Rule {
  readonly id: string;
  readonly shortDescription: { readonly text: string };
  readonly defaultConfiguration: { readonly level: string };
}

interface Result {
  readonly ruleId: string;
  readonly ruleIndex: number;
  readonly level: string;
  readonly message: { readonly text: string };
  readonly locations: readonly [
    {
      readonly physicalLocation: {
        readonly artifactLocation: { readonly uri: string };
        readonly region: { readonly startLine: number; readonly startColumn: number };
      };
    },
  ];
}

/** The schema has an old version, which the package with it brings a validator for. */
function problemsIn(log: unknown): unknown {
  const require = createRequire(join(root, "node_modules/@microsoft/jest-sarif/package.json"));
  const Ajv = require("ajv") as new (options: object) => {
    addMetaSchema(schema: unknown): void;
    validate(schema: unknown, data: unknown): boolean;
    readonly errors: unknown;
  };
  const ajv = new Ajv({ schemaId: "auto", unknownFormats: "ignore", logger: false });
  ajv.addMetaSchema(require("ajv/lib/refs/json-schema-draft-04.json"));
  const schema: unknown = require("@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json");
  return ajv.validate(schema, log) ? undefined : ajv.errors;
}

async function logOf({ folder, migrate }: SmallProject, code: number): Promise<Log> {
  expect(await migrate(["lint", "--sarif", "lint.sarif"])).toMatchObject({ code });
  const log = JSON.parse(readFileSync(join(folder, "lint.sarif"), "utf8")) as Log;
  expect(problemsIn(log)).toBe(undefined);
  return log;
}

const documents = `import * as m from "lance-migrate";
export const up = [m.createTable("documents", { id: m.int32(), score: m.float64() })];
`;

test("the findings are in a file that the schema of SARIF accepts", async () => {
  const found = project({
    "migrations/0001_documents.ts": documents,
    "migrations/0002_scores.ts": `import * as m from "lance-migrate";
export const up = [
  m.retypeColumn("documents", "score", m.float32()),
  m.dropColumn("documents", "nothing"),
];
`,
    "migrations/odd name #1%.ts": "",
  });
  const [{ tool, results }] = (await logOf(found, 4)).runs;
  const shown = results.map(({ ruleId, level, locations: [{ physicalLocation: at }] }) => {
    const { artifactLocation, region } = at;
    return `${artifactLocation.uri}:${region.startLine}:${region.startColumn} ${level} ${ruleId}`;
  });
  expect(shown).toEqual([
    "migrations/odd%20name%20%231%25.ts:1:1 error ERR_FILE_NAME",
    "migrations/0002_scores.ts:3:3 note full-rewrite",
    "migrations/0002_scores.ts:3:3 warning lossy-cast",
    "migrations/0002_scores.ts:4:30 error ERR_STEP_IMPOSSIBLE",
  ]);
  for (const { ruleId, ruleIndex } of results) expect(tool.driver.rules[ruleIndex]!.id).toBe(ruleId);
  expect(problemsIn({ version: "2.1.0", runs: [{ tool: {}, results: [] }] })).not.toBe(undefined);
});

test("without findings, the file has none, and states each rule as the documentation does", async () => {
  const [{ tool, results }] = (await logOf(project({ "migrations/0001_documents.ts": documents }), 0)).runs;
  expect(results).toEqual([]);
  const page = readFileSync(join(root, "docs/lint.md"), "utf8");
  const rows = [...page.matchAll(/^\| `([\w-]+)` \| (\w+) \| (.*?) \|/gm)].map(([, ...cells]) => cells);
  const rules = tool.driver.rules.map((rule) => [rule.id, rule.defaultConfiguration.level, rule.shortDescription.text]);
  expect(rules).toEqual(rows);
});

test("the folder of the file is created, and a file that cannot be written is named", async () => {
  const { folder, migrate } = project({ "migrations/0001_documents.ts": documents });
  expect(await migrate(["lint", "--sarif", "made/here/lint.sarif"])).toMatchObject({ code: 0 });
  expect(JSON.parse(readFileSync(join(folder, "made/here/lint.sarif"), "utf8"))).toMatchObject({ version: "2.1.0" });
  expect(await migrate(["lint", "--sarif", "migrations/0001_documents.ts/lint.sarif"])).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^--sarif can't be written: (ENOTDIR|EEXIST)/),
  });
});

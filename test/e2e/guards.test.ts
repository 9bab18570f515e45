/** Consent for what a migration loses, and what a configuration forbids, with the built command. */
import { expect, test } from "vitest";
import { aProject, type Project } from "../support/project.ts";
import { columnsOf } from "../support/tables.ts";

const create = `m.createTable("documents", { id: m.int32(), score: m.float64() }),`;
const drop = `m.dropColumn("documents", "score"),`;

/** A project with a table, and a migration that loses a column. */
async function aLoss(guards = "{}", accepts = ""): Promise<Project> {
  const project = aProject();
  project.write(
    "migrate.config.ts",
    `export default { targets: { here: { kind: "lance", uri: ".lancedb", guards: ${guards} } } };\n`,
  );
  project.migration("0001_create.ts", create);
  expect(await project.migrate(["up", "--to", "1"])).toMatchObject({ code: 0 });
  project.write(
    "migrations/0002_drop.ts",
    `import * as m from "lance-migrate";\n${accepts}\nexport const up = [${drop}];\n`,
  );
  return project;
}

const refusal = {
  code: 4,
  stdout: "",
  stderr:
    "0002_drop.ts, step 1 (dropColumn) needs consent: documents.score is dropped with its values; " +
    'run migrate up --accept lossy, or write export const accepts = ["lossy"] into the file\n',
};

test("without consent nothing is changed, and plan says what is missing", async () => {
  const project = await aLoss();
  expect(await project.migrate(["up"])).toEqual(refusal);
  expect(await columnsOf(project.database, "documents")).toEqual(["id: int32", "score: float64"]);
  const { stdout } = await project.migrate(["plan"]);
  expect(stdout).toContain('    needs consent: migrate up --accept lossy, or accepts = ["lossy"] in its file\n');
  expect((await project.migrate(["up", "--dry-run", "--accept", "lossy"])).stdout).not.toContain("needs consent");
  const { pending } = JSON.parse((await project.migrate(["plan", "--json"])).stdout);
  expect(pending[0].actions[0].refusal).toEqual({
    reason: "consent",
    consent: "lossy",
    loss: "documents.score is dropped with its values",
  });
});

test.each([
  ["the file", { accepts: `export const accepts = ["lossy"];` }],
  ["the configuration", { guards: `{ accepts: ["irreversible"] }` }],
  ["a flag", { flags: ["--accept", "lossy,irreversible"] }],
] as const)("with the consent of %s it is applied", async (_, given) => {
  const { guards, accepts, flags = [] } = given as { guards?: string; accepts?: string; flags?: readonly string[] };
  const project = await aLoss(guards, accepts);
  expect(await project.migrate(["up", ...flags])).toMatchObject({ code: 0 });
  expect(await columnsOf(project.database, "documents")).toEqual(["id: int32"]);
});

test("what the configuration forbids is refused, whatever is accepted", async () => {
  const project = await aLoss(`{ forbid: ["restore"] }`, `export const accepts = ["lossy", "irreversible"];`);
  expect(await project.migrate(["up", "--accept", "irreversible"])).toEqual({
    code: 4,
    stdout: "",
    stderr:
      "0002_drop.ts, step 1 (dropColumn) is forbidden on target here, whose configuration allows no step of rollback class restore: " +
      "documents.score is dropped with its values; use other steps, or take restore out of forbid in its guards\n",
  });
  expect((await project.migrate(["plan"])).stdout).toContain(
    "forbidden on this target: a step of rollback class restore",
  );
});

test.each([
  [{ flags: ["--accept", "all"] }, 2, "--accept must be lossy or irreversible\n"],
  [{ guards: `{ forbids: [] }` }, 2, "there is no setting forbids; did you mean forbid?"],
  [
    { accepts: `export const accepts = "lossy";` },
    4,
    '0002_drop.ts exports accepts, which must be an array of "lossy" and "irreversible"',
  ],
] as const)("%j is refused in words", async (given, code, words) => {
  const { guards, accepts, flags = [] } = given as { guards?: string; accepts?: string; flags?: readonly string[] };
  const project = await aLoss(undefined, accepts);
  if (guards !== undefined)
    project.write(
      "migrate.config.ts",
      `export default { targets: { here: { kind: "lance", uri: ".lancedb", guards: ${guards} } } };\n`,
    );
  expect(await project.migrate(["up", ...flags])).toMatchObject({
    code,
    stdout: "",
    stderr: expect.stringContaining(words),
  });
});

/** What `lint` finds in SQL. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { aProject } from "../support/project.ts";

test("SQL that the engine refuses at that point is an error, without a database, also where a target has several", async () => {
  const project = aProject();
  project.write(
    "migrate.config.ts",
    `export default { targets: { here: { kind: "lance", uri: "data/{database}", databases: ["a", "b"] } } };\n`,
  );
  project.migration("0001_people.ts", `m.createTable("people", { id: m.int32(), name: m.utf8() })`);
  project.migration("0002_upper.ts", `m.addColumn("people", "upper", m.utf8(), { as: "upper(nam)" })`);
  project.migration(
    "0003_more.ts",
    `m.execute("people", { update: { name: "concat(upper, titel)" } }),\nm.execute("people", { update: { name: "upper" }, where: "upper is not null" })`,
  );
  project.migration("0004_ended.ts", `m.execute("people", { delete: "upper = 'X' and ended" })`);
  const { code, stdout } = await project.migrate(["lint"]);
  const errors = stdout.split("\n").filter((line) => line.includes(" error "));
  expect([code, errors]).toEqual([
    4,
    [
      expect.stringMatching(/^migrations\/0002_upper\.ts:4:1 .*: people\.upper can't be computed from .*named nam/),
      expect.stringMatching(/^migrations\/0003_more\.ts:4:1 .*: people\.name can't be computed from .*named titel/),
      expect.stringMatching(/^migrations\/0004_ended\.ts:4:1 .*: no rows can be found where .*named ended/),
    ],
  ]);
  expect(existsSync(join(project.folder, "data"))).toBe(false);
});

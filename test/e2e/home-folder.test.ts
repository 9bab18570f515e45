/** `~/` in an address is the same folder for a migration as for the engine, so for the application. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { aProject, root, startNode, temporaryFolder } from "../support/project.ts";

test("tables of a database in the home folder are those that the application opens", async () => {
  const home = { HOME: temporaryFolder() };
  const project = aProject("own");
  project.write("migrate.config.ts", `export default { targets: { here: { kind: "lance", uri: "~/tables" } } };\n`);
  project.migration("0001_people.ts", `m.createTable("people", { id: m.int32() })`);
  expect(await project.migrate(["up"], home)).toMatchObject({ code: 0 });
  const lancedb = pathToFileURL(join(root, "node_modules/@lancedb/lancedb/dist/index.js")).href;
  const application = `
    import { connect } from ${JSON.stringify(lancedb)};
    for (const uri of ["~/tables", ${JSON.stringify(join(home.HOME, "tables"))}])
      console.log(String(await (await connect(uri)).tableNames()));
  `;
  project.write("application.mjs", application);
  const { stdout } = await startNode(["application.mjs"], project.folder, home).finished;
  expect(stdout).toBe("_migrations,people\n_migrations,people\n");
});

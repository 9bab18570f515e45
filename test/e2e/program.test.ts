/** Programs of docs/program.md, as they are there. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createMigrator, type Config } from "lance-migrate";
import { aProject, root, startNode, temporaryFolder } from "../support/project.ts";

/** The blocks of TypeScript, in their order. */
const programs = [...readFileSync(join(root, "docs/program.md"), "utf8").matchAll(/```ts\n([^]*?)```/g)].map(
  ([, text]) => text!,
);

test("a program with a configuration in code plans and applies, and has nothing to do the second time", async () => {
  const project = aProject("own");
  project.migration("0001_documents.ts", `m.createTable("documents", { id: m.int32() })`);
  project.migration("0002_titles.ts", `m.addColumn("documents", "title", m.utf8())`);
  project.write("program.ts", programs[0]!);
  const run = async () => await startNode(["program.ts"], project.folder).finished;
  expect(await run()).toMatchObject({ code: 0, stdout: "2 pending\n2 applied, 2 in total\n" });
  expect(await run()).toMatchObject({ code: 0, stdout: "0 pending\n0 applied, 2 in total\n" });
  // And an error as the page shows it.
  project.migration("0003_gone.ts", `m.dropColumn("documents", "gone")`);
  expect(await run()).toMatchObject({ code: 1, stderr: expect.stringMatching(/^ERR_STEP_IMPOSSIBLE /m) as string });
});

test("a program with the configuration of the project applies up to a migration", async () => {
  const project = aProject("own");
  for (const number of [1, 2, 3, 4])
    project.migration(`000${number}_t.ts`, `m.createTable("t${number}", { id: m.int32() })`);
  project.write("migrate.config.ts", `export default { targets: { local: { kind: "lance", uri: ".lancedb" } } };`);
  project.write("program.ts", programs[1]!);
  expect(await startNode(["program.ts"], project.folder).finished).toMatchObject({ code: 0 });
  const { stdout } = await project.migrate(["status", "--json"]);
  expect(JSON.parse(stdout)).toMatchObject({ applied: { length: 3 }, pending: { length: 1 } });
});

test.each(["lance", "rest"])("after close(), all that a migrator can do is refused, on %s", async (kind) => {
  const folder = temporaryFolder();
  const place = kind === "lance" ? { uri: folder } : { endpoint: "http://127.0.0.1:9", apiKey: "key" };
  const migrator = await createMigrator({ targets: { local: { kind, ...place } } } as Config);
  await migrator.close();
  await migrator.close();
  const verbs = Object.entries<(choice: never) => Promise<unknown>>({ ...migrator }).filter(
    ([name]) => name !== "close",
  );
  expect(verbs).toHaveLength(11);
  for (const [, verb] of verbs)
    await expect(verb(undefined as never)).rejects.toMatchObject({
      code: "ERR_USAGE",
      message: expect.stringContaining("is closed"),
    });
});

test("what is wrong with a configuration in code is refused", async () => {
  const folder = temporaryFolder();
  const wrong = createMigrator({ targets: {} }, { folder });
  await expect(wrong).rejects.toMatchObject({
    code: "ERR_CONFIG_INVALID",
    message: expect.stringContaining("targets must hold") as string,
  });
  const both = createMigrator({} as Config, { folder, config: "x" } as object);
  await expect(both).rejects.toMatchObject({ code: "ERR_USAGE" });
});

describe("a function for events that fails", () => {
  test.each([
    [
      "at once",
      () => {
        throw new Error("no luck");
      },
    ],
    [
      "later",
      async () => {
        await Promise.resolve();
        throw new Error("no luck");
      },
    ],
  ])("stops the run at a safe point, %s", async (_, emit) => {
    const { folder, database, migration } = aProject();
    migration("0001_documents.ts", `m.createTable("documents", { id: m.int32() })`);
    for (const number of [2, 3, 4])
      migration(`000${number}_t.ts`, `m.setMetadata("documents", "id", { at: "${number}" })`);
    const config = { targets: { local: { kind: "lance", uri: database } } } as const;
    const failing = await createMigrator(config, { folder, emit });
    onTestFinished(() => failing.close());
    await expect(failing.up({ stepByStep: true })).rejects.toMatchObject({
      code: "ERR_LISTENER",
      message: expect.stringMatching(/^the function emit of the options failed: no luck; fix it, .* again; /) as string,
    });
    const next = await createMigrator(config, { folder, waitSeconds: 0 });
    onTestFinished(() => next.close());
    expect(await next.up()).toMatchObject({ total: 4 });
  });

  test("after the work was done is an error too", async () => {
    const { folder, database } = aProject();
    const failing = await createMigrator(
      { targets: { local: { kind: "lance", uri: database } } },
      { folder, emit: () => Promise.reject(new Error("no luck")) },
    );
    onTestFinished(() => failing.close());
    await expect(failing.up()).rejects.toMatchObject({ code: "ERR_LISTENER", details: { problem: "no luck" } });
  });
});

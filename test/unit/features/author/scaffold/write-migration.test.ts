/** What `new` and `generate` do with the existing migrations: they are read and applied to the model once. */
import { expect, test } from "vitest";
import * as features from "../../../../../src/features/index.ts";
import { writingNext } from "../../../../../src/features/author/scaffold/write-migration.ts";
import { checkMigrations } from "../../../../../src/features/shared/check-migrations/check-migrations.ts";
import { addColumn, utf8 } from "../../../../../src/index.ts";
import type { Migration } from "../../../../../src/migrations/load.ts";
import type { MigrationSource } from "../../../../../src/migrations/source.ts";
import { openSession } from "../../../../../src/session/session.ts";
import { aProject } from "../../../../support/project.ts";

/** Counts how often migrations are loaded, and how often something reads their steps. */
function counted({ list, load }: MigrationSource) {
  const counts = { lists: 0, loads: 0, steps: 0 };
  const counting: MigrationSource = {
    list: (refuse) => {
      counts.lists++;
      return list(refuse);
    },
    load: async (file, reading) => {
      counts.loads++;
      const { steps, ...rest } = await load(file, reading);
      const counted = {
        ...rest,
        get steps() {
          counts.steps++;
          return steps;
        },
      };
      return counted as Migration;
    },
  };
  return { counts, source: counting };
}

test("the existing migrations are loaded once and applied to the model once, whatever is written", async () => {
  const project = aProject();
  project.migration("0001_start.ts", `m.createTable("documents", { id: m.int64(), title: m.utf8() })`);
  for (let version = 2; version <= 9; version++)
    project.migration(`000${version}_more.ts`, `m.addColumn("documents", "n${version}", m.utf8())`);
  expect(await project.migrate(["types", "--out", "db.ts"])).toMatchObject({ code: 0 });
  project.write(
    "migrate.config.ts",
    `export default { types: "db.ts", targets: { here: { kind: "lance", uri: "data" } } };\n`,
  );
  const session = await openSession({ folder: project.folder }, Object.values(features));
  const { options } = session;
  const linting = counted(options.migrations);
  await checkMigrations({ ...options, migrations: linting.source });
  const { counts, source } = counted(options.migrations);
  const writing = writingNext(
    { ...session, options: { ...options, migrations: source } },
    {
      output: { progress: (text: string) => expect(text).toBe("") } as never,
      features: Object.values(features),
      underWay: () => {},
    },
  );
  await writing.checked();
  await writing.write({ name: "one_more", steps: [addColumn("documents", "more", utf8())] });
  await session.close();
  expect(counts).toEqual({ lists: 2, loads: 9, steps: linting.counts.steps });
  // The lock file and both files of types describe the new migration.
  expect(await project.migrate(["types", "--check"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["lint"])).toMatchObject({ stdout: expect.not.stringContaining("ERR_LOCK_STALE") });
});

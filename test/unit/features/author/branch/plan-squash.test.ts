import { createTable, int32, renameColumn, type Step } from "lance-migrate";
import { expect, test } from "vitest";
import { planSquash } from "../../../../../src/features/author/branch/plan-squash.ts";
import type { Migration } from "../../../../../src/migrations/load.ts";
import type { Scratch, Target } from "../../../../../src/targets/contract/target.ts";
import { aMigration } from "../../../../simulate/history.ts";
import { memoryTables } from "../../../../simulate/target/memory-tables.ts";
import { memoryTarget } from "../../../../simulate/target/memory-target.ts";

/** An engine that notes in the metadata of the columns of a table that it has altered it. */
function notingTarget(): Target {
  const tables = memoryTables();
  const target = memoryTarget({ name: "memory", model: "embedded", tables });
  return {
    ...target,
    async execute(action, snapshot) {
      await target.execute(action, snapshot);
      const { columns = [] } = tables.get(action.table) ?? {};
      const noted = columns.map((column) => ({ ...column, metadata: { altered: "yes" } }));
      if (action.kind === "alterColumns") tables.write(action.table, "metadata", { columns: noted });
      return { version: tables.get(action.table)?.version };
    },
  };
}

/** Plans a squash of two migrations: the first creates another table, the second has these steps. */
async function squashed(...steps: readonly Step[]) {
  return await squashedAs("squashed", steps);
}

async function squashedAs(name: string, steps: readonly Step[]) {
  const all: readonly Migration[] = [
    { ...aMigration(1, [createTable("first", { id: int32() })]), accepts: ["lossy"] },
    { ...aMigration(2, steps), accepts: ["lossy", "irreversible"] },
  ];
  const migrations = { list: () => all, load: async ({ version }: { version: number }) => all[version - 1]! };
  const openScratch = async (): Promise<Scratch> => ({
    folder: "",
    target: notingTarget(),
    createSample: async () => 0,
    rows: async () => ({ count: 0, sum: undefined }),
  });
  const options = {
    target: notingTarget(),
    migrations,
    ledger: "_migrations",
    lease: { duration: 30_000, patience: 0 },
  };
  return await planSquash(options, { to: 2, name }, openScratch);
}

const create = createTable("t", { id: int32() });

test("a squash is proven if the engine makes the same tables of it", async () => {
  expect(await squashed(create)).toMatchObject({ proven: 2, unproven: undefined });
});

test("a squash must not have the name of the last migration that it replaces", async () => {
  const { name, file } = aMigration(2, []);
  await expect(squashedAs(name, [create])).rejects.toMatchObject({
    code: "ERR_FILE_EXISTS",
    details: { file },
  });
});

test("a squash has each consent of its migrations once", async () => {
  expect((await squashed(create)).accepts).toEqual(["lossy", "irreversible"]);
});

test("a squash is refused if the engine leaves something in a table only after the original steps", async () => {
  const rename = renameColumn("t", "id", "number");
  await expect(squashed(create, rename)).rejects.toMatchObject({
    code: "ERR_SQUASH",
    details: {
      problem: 'the engine does not make the same of it: t: altered of column number is not set instead of "yes"',
    },
  });
});

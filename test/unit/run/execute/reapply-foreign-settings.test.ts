import { expect, test } from "vitest";
import { down } from "../../../../src/commands/down.ts";
import { up } from "../../../../src/commands/up.ts";
import type { Action } from "../../../../src/actions/model/action.ts";
import { MigrateError } from "../../../../src/errors/migrate-error.ts";
import type { PlannedAction } from "../../../../src/plan/make-plan.ts";
import type { MigratorOptions } from "../../../../src/run/run-context.ts";
import { reapplyForeignSettings } from "../../../../src/run/execute/reapply-foreign-settings.ts";
import { columnsOf, int32 } from "../../../../src/schema/declare/type-builders.ts";
import type { Target } from "../../../../src/targets/contract/target.ts";
import { aMigration } from "../../../simulate/history.ts";
import { sourceOf } from "../../../simulate/start-run.ts";
import { memoryTarget } from "../../../simulate/target/memory-target.ts";
import { memoryTables } from "../../../simulate/target/memory-tables.ts";
import type { Model } from "../../../simulate/target/carry.ts";

/** Restores a version while others clean up the old ones right after it, and maybe set metadata right before it. */
async function restored(
  model: Model,
  acceptLoss: boolean,
  beforeCall: Readonly<Record<string, string>> = {},
  gone?: () => unknown,
) {
  const tables = memoryTables();
  const memory = memoryTarget({ name: "memory", model, tables });
  const set = (path: string, metadata: Readonly<Record<string, string>>) =>
    tables.carryOut({ kind: "setMetadata", table: "t", updates: [{ path, metadata }] });
  let isRestored = false;
  const target: Target = {
    ...memory,
    versions: {
      ...memory.versions!,
      async look(...version) {
        const found = await memory.versions!.look(...version);
        if (isRestored && found.restored === undefined && gone !== undefined) throw gone();
        return found;
      },
    },
    async execute(action, seen) {
      if (action.kind !== "restoreTable") return await memory.execute(action, seen);
      for (const [path, value] of Object.entries(beforeCall)) set(path, { owner: value });
      const made = await memory.execute(action, seen);
      isRestored = true;
      tables.write("t", "compact");
      tables.cleanUp("t");
      return made;
    },
  };
  const notes: string[] = [];
  const options: MigratorOptions = {
    target,
    ledger: "_migrations",
    migrations: sourceOf([
      aMigration(1, [
        { kind: "createTable", table: "t", columns: [...columnsOf({ a: int32(), b: int32(), c: int32() })] },
      ]),
      aMigration(2, [{ kind: "dropColumn", table: "t", path: "c" }]),
    ]),
    lease: { duration: 30_000, patience: 0 },
    emit: (event) => void (event.event === "accepted" && notes.push(event.words)),
  };
  await up(options);
  set("a", { owner: "seen" });
  const seen = tables.get("t")!.version;
  const ended = await down(options, { to: 1, accept: acceptLoss ? ["lossy"] : [] }).catch((error: unknown) => error);
  const owners = tables.get("t")!.columns.map(({ metadata }) => metadata?.["owner"]);
  return { ended, notes, owners, seen };
}

const models = ["embedded", "namespace"] as const;
const serviceAnswers = () =>
  new MigrateError("ERR_ANSWER", { target: "memory", request: "describe t", status: 404, problem: "no such version" });
const refusals = { "a comparison of versions": undefined, "the answer of a service": serviceAnswers };
const cases = models.flatMap((model) =>
  [false, true].flatMap((acceptLoss) =>
    Object.entries(refusals).map(([name, gone]) => [model, acceptLoss, name, gone] as const),
  ),
);

test.each(models)(
  "what others had set is put back although the restored version is cleaned up at once (%s)",
  async (model) => {
    const { ended, notes, owners } = await restored(model, true);
    expect(ended).toEqual({ reverted: 1, total: 1 });
    expect(notes).toEqual([]);
    expect(owners).toEqual(["seen", undefined, undefined]);
  },
);

test.each(cases)(
  "where the replaced version is cleaned up, what was seen is put back, and the rest is said to be unknown (%s, accepting losses: %s, found by %s)",
  async (model, acceptLoss, _name, gone) => {
    const { ended, notes, owners, seen } = await restored(model, acceptLoss, { b: "unseen" }, gone);
    const words = expect.stringMatching(
      new RegExp(
        `whether metadata and indexes that others had given t after version ${seen} and before version 1 was restored are lost is unknown`,
      ),
    );
    expect(owners).toEqual(["seen", undefined, undefined]);
    if (acceptLoss) {
      expect(ended).toEqual({ reverted: 1, total: 1 });
      expect(notes).toEqual([words]);
    } else expect(ended).toMatchObject({ code: "ERR_METADATA_LOST", message: words });
  },
);

test("a version that another run has released, because it has taken over, is not called a loss", async () => {
  const action = { kind: "restoreTable", table: "t", version: 1, after: 2, as: { columns: [] } };
  const at = async () => {
    throw new Error("version 1 is gone");
  };
  const check = async () => {
    throw new MigrateError("ERR_LEASE_LOST", { by: "another" });
  };
  const context = { target: { versions: { at }, explain: String }, lease: { check } };
  const looking = reapplyForeignSettings({ action } as never, {}, context as never);
  await expect(looking).rejects.toMatchObject({ code: "ERR_LEASE_LOST" });
});

test("metadata of the other columns is put back if one of them was dropped after the restore", async () => {
  const tables = memoryTables();
  const target = memoryTarget({ name: "memory", model: "embedded", tables });
  const columns = columnsOf({ a: int32(), b: int32() });
  tables.carryOut({ kind: "createTable", table: "t", columns });
  const [version, table] = [tables.get("t")!.version, { columns }];
  const updates = ["a", "b"].map((path) => ({ path, metadata: { owner: "them" } }));
  tables.carryOut({ kind: "setMetadata", table: "t", updates });
  const seen = await target.describeTable("t", true);
  const action: Action = { kind: "restoreTable", table: "t", version, after: version, as: table, isSilent: false };
  const { version: made } = await target.execute(action, seen);
  tables.carryOut({ kind: "dropColumns", table: "t", paths: ["b"] });
  const known = new Map([["t", table]]);
  const lease = { check: async () => {}, isSure: () => true };
  const place = { version: 1, name: "more", action: 1, total: 1 };
  const planned = { action, before: known, after: known } as unknown as PlannedAction;
  expect(await reapplyForeignSettings(planned, { seen, made }, { target, lease, place } as never)).toEqual({
    commits: 1,
  });
  expect(tables.get("t")!.columns.map(({ metadata }) => metadata)).toEqual([{ owner: "them" }]);
});

/** Runs that defer indexes and lose their target at a call: the ledger states what is deferred anyway. */
import { cpSync } from "node:fs";
import { expect, test } from "vitest";
import { down } from "../../src/commands/down.ts";
import { status } from "../../src/commands/status.ts";
import { up } from "../../src/commands/up.ts";
import { MigrateError } from "../../src/errors/migrate-error.ts";
import {
  addColumn,
  createIndex,
  createTable,
  dropIndex,
  int64,
  ivfFlat,
  renameColumn,
  utf8,
  vector,
} from "../../src/index.ts";
import { open as openLance } from "../../src/targets/lance/lance.ts";
import { temporaryFolder } from "../support/project.ts";
import { rounds } from "../support/rounds.ts";
import { addRows, lancedb } from "../support/tables.ts";
import { killed, leapingClock, optionsFor, watched, writeMigrations, type Watch } from "../support/watched.ts";

const index = createIndex("docs", "at", ivfFlat({ numPartitions: 2 }));
const docs = createTable("docs", { id: int64(), at: vector(2) });

const every = rounds(18, 1);

async function optionsOn(data: string, migrations: string, watch: Watch = {}) {
  const target = await openLance({ kind: "lance", uri: data }, { name: "here", folder: data });
  return optionsFor(migrations, watched(target, watch), leapingClock());
}

async function deferredIn(data: string, migrations: string): Promise<readonly string[]> {
  const { deferred, problem } = await status(await optionsOn(data, migrations));
  expect(problem).toBeUndefined();
  return deferred.map((one) => `${one.index}: ${one.vectors}`);
}

test.each<[string, readonly object[]]>([
  ["the index alone", [dropIndex("docs", "at_idx")]],
  ["the index first", [addColumn("docs", "n", utf8()), dropIndex("docs", "at_idx")]],
  ["the index last", [dropIndex("docs", "at_idx"), renameColumn("docs", "id", "key"), addColumn("docs", "n", utf8())]],
])("a rollback that defers %s keeps the deferral wherever it is killed", async (_, last) => {
  const [origin, migrations] = [temporaryFolder(), temporaryFolder()];
  writeMigrations(migrations, [[docs]]);
  await up(await optionsOn(origin, migrations));
  await addRows(
    origin,
    "docs",
    [1, 2].map((id) => ({ id, at: [id, 1] })),
  );
  writeMigrations(migrations, [[docs], [index], last]);
  await up(await optionsOn(origin, migrations));
  await (await (await lancedb.connect(origin)).openTable("docs")).delete("true");
  for (const after of [false, true])
    for (let call = after ? 1 + (every >> 1) : 1, isDone = false; !isDone; call += every) {
      const data = temporaryFolder();
      cpSync(origin, data, { recursive: true });
      const dying = down(await optionsOn(data, migrations, killed(call, after)));
      isDone = await dying.then(
        () => true,
        () => false,
      );
      const { applied, reverting } = await status(await optionsOn(data, migrations));
      if (applied.length > 2 || reverting.length > 0) await down(await optionsOn(data, migrations), { to: 2 });
      expect({ call, after, deferred: await deferredIn(data, migrations) }).toEqual({
        call,
        after,
        deferred: ["at_idx: 0"],
      });
    }
});

test("a migration that is done is recorded, also if the table can't be described any more to see what was deferred", async () => {
  const migrations = temporaryFolder();
  writeMigrations(migrations, [[docs, index]]);
  const calls: string[] = [];
  await up(await optionsOn(temporaryFolder(), migrations, { before: (_, what) => calls.push(what) }));
  const recording = calls.indexOf("write", calls.lastIndexOf("execute"));
  const last = calls.lastIndexOf("look", recording) + 1;

  const data = temporaryFolder();
  const failing: Watch = {
    before(call) {
      if (call === last) throw new MigrateError("ERR_TARGET_UNREACHABLE", { target: "here", problem: "no answer" });
    },
  };
  const first = await up(await optionsOn(data, migrations, failing));
  expect(first).toMatchObject({ applied: 1, deferred: [{ index: "at_idx", vectors: 0 }] });
  expect(await deferredIn(data, migrations)).toEqual(["at_idx: 0"]);
  await addRows(
    data,
    "docs",
    [1, 2].map((id) => ({ id, at: [id, 1] })),
  );
  expect(await up(await optionsOn(data, migrations))).toEqual({ applied: 0, total: 1, hasSettled: true });
  expect(await deferredIn(data, migrations)).toEqual([]);
});
